"""Questions, answered from what the windows show and from nothing else."""

from dataclasses import dataclass
from itertools import pairwise

from contextui.agent.models.offline.answering.finding import (
    asked_about,
    holds,
    is_field,
    only_names,
    with_fields,
)
from contextui.agent.models.offline.answering.saying import phrases, told, window_line
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.referring.knowing import (
    declares,
    is_foreign,
    is_told,
    knows,
    subjects,
)
from contextui.agent.models.offline.referring.mentions import is_named, mention_of
from contextui.agent.models.offline.shown import items as shown
from contextui.agent.models.offline.shown.blocks import ClassView, Item, WindowView
from contextui.agent.models.offline.shown.profiles import GROUP, likeness
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.text import one_line
from contextui.words import Lang

_UNTELLING = ("~what", "~howmany", "~how", "~is_there", "~be", "~who", "~article", "~possessive",
              "~in", "~of", "~to", "~polite", "~adverb", "~this", "~it", "~all", "~have", "~here",
              "~at", "~for", "~with", "~when", "~done_mark", "~one", "~person", "~aspect",
              "~interjection")  # fmt: skip


_DONE = Token("done", 0, 0, Kind.WORD, frozenset({"@done", "done"}))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; or the class whose window has to be opened to get one."""

    text: str = ""
    opens: ClassView | None = None


def answer_question(clause: Clause, around: Surroundings, lang: Lang) -> Reply | None:
    """The answer to a question; None if nothing that is shown has one."""
    say = phrases(lang)
    if _is_about_windows(clause, around):
        lines = told(map(window_line, around.windows), lang)
        return Reply(say.open_windows.format(lines) if lines else say.none_open)
    able = _asks_what_it_can(clause)
    if able and (about := window_spoken_of(clause, around)):
        return Reply(say.actions.format(about.id, _actions(about)))
    window, wanted = _window_of(clause, around)
    if window is None and not around.opening and around.windows:
        return Reply(content_of(around.windows[0], lang))  # it was opened for this question
    opens = _class_of(clause, around) if around.opening else None
    if window is None or (opens and _is_rather(opens, window, clause, around)):
        return Reply(opens=opens) if opens else None
    return Reply(_from_window(clause, window, wanted, lang))


def content_of(window: WindowView, lang: Lang) -> str:
    """All that a window shows, as it can be told."""
    say = phrases(lang)
    tags = {one.tag for one in window.items}
    lines = [_line(one, window) for one in window.items] if tags - {""} else (
        window.text.splitlines())  # fmt: skip
    return say.shows.format(window.id, told(lines, lang)) if lines else say.empty.format(window.id)


# --- within ------------------------------------------------------------------------------


def _from_window(clause: Clause, window: WindowView, wanted: list[Token], lang: Lang) -> str:
    say, pool = phrases(lang), shown.main_items(window)
    found = asked_about(window, pool, wanted)
    if amount := _amount(clause, window, wanted, found, lang):
        return amount
    found = with_fields(found, wanted, window)
    every = any(one.has("~all") for one in clause.tokens) and all(one.is_verb for one in wanted)
    if wanted and every and _asks_whether(clause):
        return _whether_all(window, wanted, lang)
    if wanted and _asks_whether(clause):
        return _whether(window, found, wanted, lang)
    if found:
        return say.shows.format(window.id, told((_line(one, window) for one in found), lang))
    return content_of(window, lang)


def _amount(
    clause: Clause, window: WindowView, wanted: list[Token], found: list[Item], lang: Lang
) -> str:
    """How much or how many, if that is asked; empty if it is not, or nothing says so."""
    say, counted = phrases(lang), found if wanted else shown.main_items(window)
    if any(one.has("still", "还", "~exist") for one in clause.tokens):
        counted = [one for one in counted if shown.holds(one, _DONE) is not True]
    if not _asks_how_many(clause) or (wanted and not found):
        return ""
    if is_foreign(window, wanted):
        things = " ".join(one.text for one in subjects(wanted))
        return say.there_is_not.format(window.id, one_line(things, 60))
    fields = [one for one in counted if is_field(one, window)]
    if found and fields == found and all(_has_figure(one) for one in found):
        return say.shows.format(window.id, told((_line(one, window) for one in found), lang))
    if fields and all(only_names(one, found) for one in wanted):
        return content_of(window, lang)
    if fields or not all(one.tag for one in counted):
        return ""  # lines of a text are not what is counted
    names = ", ".join(one_line(one.line, 60) for one in counted[:10])
    return say.count.format(len(counted), window.id, names or "–")


def _whether(window: WindowView, found: list[Item], wanted: list[Token], lang: Lang) -> str:
    """Yes or no, if what is shown says so; else what is shown of it."""
    say = phrases(lang)
    if not found:
        phrase = one_line(" ".join(one.text for one in wanted), 60)
        return say.there_is_not.format(window.id, phrase)
    lines = told((_line(one, window) for one in found), lang, "")
    asked = [one for one in wanted if not only_names(one, found)]
    verdicts = {holds(item, one, window) for item in found for one in asked}
    if len(verdicts) == 1 and None not in verdicts:
        return (say.there_is if True in verdicts else say.is_not).format(window.id, lines)
    return (say.shows if verdicts else say.there_is).format(window.id, lines)


def _whether_all(window: WindowView, wanted: list[Token], lang: Lang) -> str:
    """Whether something is true of all that a window lists; else of which it is not."""
    say, pool = phrases(lang), shown.main_items(window)
    lacking = [one for one in pool if not all(holds(one, word, window) for word in wanted)]
    lines = told((_line(one, window) for one in lacking or pool), lang, "")
    return (say.is_not if lacking else say.there_is).format(window.id, lines)


def _line(item: Item, window: WindowView) -> str:
    """A thing as it can be told; what stands for itself with the name that it has."""
    return f"{item.tag}: {item.line}" if is_field(item, window) and item.text else item.line


def _has_figure(item: Item) -> bool:
    return any(char.isdigit() for char in item.line)


def _is_about_windows(clause: Clause, around: Surroundings) -> bool:
    said = [one for one in clause.tokens if one.kind is Kind.WORD]
    about = any(one.has("#window") for one in said)
    opened = any(one.has("@open") for one in said)
    rest = [one for one in said if not one.has(*_UNTELLING, "#window", "@open", "~exist", "@show")]
    named = max((mention_of(clause, one)[0] for one in around.windows), default=0.0)
    return not rest and (about or opened) and named < 2.0


def _window_of(clause: Clause, around: Surroundings) -> tuple[WindowView | None, list[Token]]:
    """The window that a question is about, and the words that say what of it is wanted."""
    best: tuple[float, WindowView, list[Token]] | None = None
    asked = any(one.has("~it", "~here") for one in clause.tokens)
    asked_whether = _asks_whether(clause)
    counts = _asks_how_many(clause)
    for window in around.windows:
        named, places = mention_of(clause, window)
        wanted = [one for place, one in enumerate(clause.tokens) if _tells(clause, place)
                  and (place not in places or _is_shown(one, window))]  # fmt: skip
        if counts and named < 0.7 and is_foreign(window, wanted):
            continue  # what is counted there would be something else
        found = asked_about(window, shown.main_items(window), wanted)
        used = around.used.index(window.id) if window.id in around.used else 9
        hits = sum(shown.find_by_words(window.items, one.text).fit >= shown.PART for one in wanted)
        score = named + 1.5 * bool(found) + hits
        things = [one.nouns for one in wanted if not one.is_verb]
        score += 0.5 * (counts and any(declares(window, one) for one in things))
        score += (0.4 / (1 + used)) + 0.6 * (asked and used == 0)
        alone = not wanted and len(around.windows) == 1
        if (named >= 0.7 or found or alone or (asked and not wanted)) and (
            best is None or score > best[0]
        ):
            best = (score, window, wanted)
    if best is None and asked_whether and around.windows:
        recent = next((one for one in around.windows if one.id in around.used[:1]), None)
        only = around.windows[0] if len(around.windows) == 1 else None
        wanted = [one for place, one in enumerate(clause.tokens) if _tells(clause, place)]
        return recent or only, wanted
    return (best[1], best[2]) if best else (None, [])


def _is_shown(token: Token, window: WindowView) -> bool:
    """Whether a word of a window's description names something that it shows, such as its mode."""
    tags = {one.tag for one in window.items[:200] if is_field(one, window)}
    return token.text.casefold() != window.name and any(
        likeness(token.nouns, keys_of(tag)) >= GROUP for tag in tags)  # fmt: skip


def window_spoken_of(clause: Clause, around: Surroundings) -> WindowView | None:
    """The window that is named, else the one that was used last, or the only one."""
    scores = [(mention_of(clause, one, strict=False)[0], one) for one in around.windows]
    score, best = max(scores, key=lambda one: one[0], default=(0.0, None))
    if score >= 0.7:
        return best
    recent = next((one for one in around.windows if one.id in around.used[:1]), None)
    return recent or (around.windows[0] if len(around.windows) == 1 else None)


def _class_of(clause: Clause, around: Surroundings) -> ClassView | None:
    """A class whose window would tell, if one is clearly meant and needs nothing to be opened."""
    named = [
        (*mention_of(clause, one, strict=False), one)
        for one in around.classes
        if all(arg.optional for arg in one.args)
    ]
    score, _, best = max(
        named, key=lambda one: (round(one[0], 2), len(one[1])), default=(0.0, set[int](), None)
    )
    return best if score >= 0.8 else None


def _is_rather(cls: ClassView, window: WindowView, clause: Clause, around: Surroundings) -> bool:
    """Whether a class that is not open is rather meant than a window.

    It is if it is named where the window is only described, or if it alone tells of something.
    """
    if any(one.name == cls.name for one in around.windows):
        return False
    wanted = [one for place, one in enumerate(clause.tokens) if _tells(clause, place)]
    told = [one for one in subjects(wanted) if is_told(cls, one.nouns)]
    if is_foreign(window, wanted) and any(
        not any(knows(view, one) for view in around.windows) for one in told
    ):
        return True
    named = any(one.text.casefold() == cls.name.casefold() for one in clause.tokens)
    named = named or any(
        one.has("~what", "~howmany", "~all") and not after.is_ascii and is_named(after, cls)
        for one, after in pairwise(clause.tokens)
    )  # which of them there are: no Chinese word says by itself that there are several
    return named and not any(is_named(one, window) for one in clause.tokens)


def _tells(clause: Clause, place: int) -> bool:
    """Whether a word says what is asked about."""
    token = clause.tokens[place]
    if token.kind is Kind.MARK:
        return False
    if token.text.casefold() in ("on", "off") and all(
        one.kind is Kind.MARK for one in clause.tokens[place + 1 :]
    ):
        return True
    if token.number and token.number.ordinal:
        return True
    return not token.has(*_UNTELLING) and not token.has("@show", "~polite", "@read")


def _asks_what_it_can(clause: Clause) -> bool:
    """Whether it asks what a window can do, in whatever order."""
    if any(one.has("~able") or (one.has("#window") and one.has("@pick")) for one in clause.tokens):
        return True
    said = [one.text.casefold() for one in clause.tokens]
    english = "can" in said and "do" in said and any(one.has("~what") for one in clause.tokens)
    return english or ("能" in said and any(one in said for one in ("做", "干")))


def _asks_how_many(clause: Clause) -> bool:
    return any(one.has("~howmany") for one in clause.tokens)


def _asks_whether(clause: Clause) -> bool:
    first = next((one for one in clause.tokens if one.kind is Kind.WORD), None)
    if first is None:
        return False
    if first.text.isascii():
        return first.has("~is_there", "~be") and not first.has("~what")
    return any(one.has("~is_there") or one.text == "吗" for one in clause.tokens)


def _actions(window: WindowView) -> str:
    return "; ".join(f"{one.id} ({one_line(one.label, 60)})" for one in window.actions[:40])
