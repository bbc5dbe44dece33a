"""Around the wishes: greetings, what the model is, files to read, answers to what was asked."""

from collections.abc import Sequence

from contextui.agent.models.offline.answering import saying
from contextui.agent.models.offline.lexicon.abilities import ABLE
from contextui.agent.models.offline.meaning.taking_in import takes_listed
from contextui.agent.models.offline.planning.needing import with_needs
from contextui.agent.models.offline.reading.clauses import Clause, parts_of
from contextui.agent.models.offline.reading.splitting import clauses_of
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import is_chinese
from contextui.agent.models.offline.referring.mentions import mention_of
from contextui.agent.models.offline.referring.roles import head_of, is_declared
from contextui.agent.models.offline.shown.blocks import ClassView, window_of
from contextui.agent.models.offline.shown.chinese_names import declared_parts
from contextui.agent.models.offline.shown.profiles import words_of
from contextui.agent.models.offline.shown.scene import Scene
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.words import Lang

_SMALL_TALK = ("~greet", "~thank", "~bye", "~closing", "~polite", "~adverb", "~interjection")
_LONGEST_QUESTION = 80  # characters of a question for what can be done
_MOST_NAMES, _LONGEST_NAME = 300, 9  # things of a window, and words of one, that are looked for
_WRITING = frozenset({"@write", "@add", "write"})
MOST = 30
"""Wishes of one turn: more would take more steps than a turn has."""


def small_talk(clause: Clause, scene: Scene, lang: Lang, *, alone: bool) -> str:
    """The answer to a greeting, or to who this is; empty if it is neither.

    Args:
        clause: What was said.
        scene: What there is.
        lang: The person's language.
        alone: Whether nothing else was said.
    """
    say, said = saying.phrases(lang), [one for one in clause.tokens if one.kind is not Kind.MARK]
    if any(one.has("~identity") for one in said):
        return say.identity.format(say.connect)
    about_window = any(mention_of(clause, one, strict=False)[0] >= 1.0 for one in scene.windows)
    about_window = about_window or any(one.has("~here", "~it") for one in said)
    about_window = about_window and bool(scene.windows)
    asks = any(one.has("~able") for one in said) or _asks_what_can_be_done(clause)
    if asks and not about_window:
        able = say.able.format(saying.class_lines(scene.classes, lang))
        return f"{able}\n\n{say.try_it.format(_example(scene.classes, lang))} {say.connect}"
    return _courtesy(said, scene, lang) if alone else ""


def _courtesy(said: Sequence[Token], scene: Scene, lang: Lang) -> str:
    """The answer to words that wish for nothing; empty if they do."""
    say = saying.phrases(lang)
    if not said or not all(one.has("~drop", *_SMALL_TALK) for one in said):
        return ""
    answers = {
        "~drop": say.dropped,
        "~thank": say.welcome,
        "~greet": say.greeting.format(_example(scene.classes, lang)),
        "~bye": say.bye,
        "~closing": say.welcome,
    }
    return next((text for key, text in answers.items() if any(one.has(key) for one in said)), "")


def _asks_what_can_be_done(clause: Clause) -> bool:
    words = "".join(clause.text.casefold().split()) if is_chinese(clause.text) else (
        " ".join(clause.text.casefold().replace("’", "'").split()))  # fmt: skip
    return len(words) < _LONGEST_QUESTION and ABLE.match(words.strip(" ?？!！.。~～")) is not None


def _example(classes: Sequence[ClassView], lang: Lang) -> str:
    """Words to try: to open what is easiest to begin with, rather a list than anything else."""
    say = saying.phrases(lang)
    best = max(classes, key=_ease, default=None)
    if best is None:
        return "…"
    return (say.example_list if takes_listed(best) else say.example).format(best.name)


def _ease(cls: ClassView) -> tuple[bool, bool, bool]:
    described = any(keys & {"#list", "#task"} for keys in words_of(cls)[1])
    return described, takes_listed(cls), all(one.optional for one in cls.args)


def file_to_read(clause: Clause, around: Surroundings, scene: Scene) -> str:
    """The path of the file that is to be read out; empty if none is."""
    paths = [one for one in clause.tokens if one.kind is Kind.PATH]
    head = head_of(clause, frozenset())
    reads = head is not None and clause.tokens[head].has("@read")
    declared = any(one.id == "read" for window in around.windows for one in window.actions)
    if len(paths) != 1 or declared or "read_file" not in scene.tools:
        return ""
    asks = clause.is_question and not any(one.has("~where") for one in clause.tokens)
    return paths[0].text if reads or asks else ""


def wishes_of(scene: Scene, around: Surroundings) -> list[Clause]:
    """The clauses of what the person wishes for, in order."""
    if window_of(scene.words):  # it was pasted; whatever is in it is no wish
        return []
    clauses = with_needs(clauses_in(scene.words, around), around)
    return [one for clause in clauses for one in _spread(clause, around)][:MOST]


def clauses_in(words: str, around: Surroundings) -> list[Clause]:
    """The clauses of words that are said to these windows."""
    declared = around.declared()

    def knows(token: Token) -> bool:
        return is_declared(token, declared)

    names = _choices(around) | _shown_names(around)
    return clauses_of(words, knows, names, declared_parts(words, around))


def _shown_names(around: Surroundings) -> frozenset[str]:
    """The things of several words that windows show, as they are said."""
    texts = [one.text for window in around.windows for one in window.items[:_MOST_NAMES]]
    return frozenset(
        one.casefold() for one in texts
        if 1 < len(one.split()) < _LONGEST_NAME or (one.isalpha() and not one.isascii())
    )  # fmt: skip


def _choices(around: Surroundings) -> frozenset[str]:
    """The Chinese choices that windows and classes declare."""
    params = [p for window in around.windows for action in window.actions for p in action.params]
    params += [arg for cls in around.classes for arg in cls.args]
    kinds = [kind for one in params for kind in (one.type, one.type.of) if kind]
    every = (choice for kind in kinds for choice in kind.choices)
    return frozenset(one for one in every if len(one) > 1 and not one.isascii())


def _spread(clause: Clause, around: Surroundings) -> list[Clause]:
    """Part what opens, or closes, several windows ("open a list and a notebook")."""
    head = head_of(clause, around.declared())
    if head is None or not clause.tokens[head].has("@open", "@close", "@show"):
        return [clause]
    parts = with_verb(clause, around)
    named = [_named_view(Clause(one.tokens[head + 1 :], one.words), around) for one in parts]
    if len(parts) < 2 or not all(named) or len(set(named)) < len(named):
        return [clause]
    return parts


def with_verb(clause: Clause, around: Surroundings) -> list[Clause]:
    """What is listed behind a verb, each part as a wish with that verb."""
    head = head_of(clause, around.declared())
    if head is None:
        return [clause]
    verb, rest = clause.tokens[: head + 1], parts_of(clause.tokens[head + 1 :])
    again = verb_alone(verb)
    return [Clause((*(again if number else verb), *part), clause.words)
            for number, part in enumerate(rest)]  # fmt: skip


def verb_alone(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """What ends in a verb, without who or what does it."""
    small = [one for one in tokens[:-1] if one.is_small or one.is_verb]
    return (*small, tokens[-1])


def told_alone(clause: Clause, around: Surroundings) -> Clause:
    """What is told to a window that was opened for it: of "a file that says …" what it says."""
    head, tokens = head_of(clause, around.declared()), clause.tokens
    if head is None or not tokens[head].has("@open"):
        return clause
    told = next((n for n, one in enumerate(tokens) if n > head and one.has("~saying")), None)
    if told is None or told + 1 == len(tokens):
        return clause
    colon = Token("：", tokens[told].start, tokens[told].end, Kind.MARK)
    verb = Token("write", tokens[head].start, tokens[head].end, Kind.WORD, _WRITING)
    return Clause((verb, colon, *tokens[told + 1 :]), clause.words)


def _named_view(clause: Clause, around: Surroundings) -> str:
    scores = [(mention_of(clause, one)[0], one.id) for one in around.windows]
    scores += [(mention_of(clause, one, strict=False)[0], one.name) for one in around.classes]
    score, name = max(scores, default=(0.0, ""))
    return name if score >= 2.0 else ""
