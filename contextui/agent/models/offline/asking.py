"""Questions, answered from what the windows show and from nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from contextui.agent.models.offline import items as shown
from contextui.agent.models.offline.blocks import ClassView, Item, WindowView
from contextui.agent.models.offline.clauses import Clause
from contextui.agent.models.offline.mentions import mention_of
from contextui.agent.models.offline.profiles import GROUP, likeness
from contextui.agent.models.offline.saying import phrases, told, window_line
from contextui.agent.models.offline.surroundings import Surroundings
from contextui.agent.models.offline.token import Kind, Token
from contextui.agent.models.offline.words import keys_of
from contextui.text import one_line
from contextui.windowing.env import Lang

_UNTELLING = ("~what", "~howmany", "~how", "~is_there", "~be", "~who", "~article", "~possessive",
              "~in", "~of", "~to", "~polite", "~adverb", "~this", "~it", "~all", "~have", "~here",
              "~at", "~for", "~with", "~when", "~done_mark", "~one", "~person", "~aspect",
              "~interjection")  # fmt: skip


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
    window, wanted = _window_of(clause, around)
    if window is None:
        opens = _class_of(clause, around)
        return Reply(opens=opens) if opens else None
    if any(one.has("~able") or (one.has("#window") and one.has("@pick")) for one in clause.tokens):
        return Reply(say.actions.format(window.id, _actions(window)))
    return Reply(_from_window(clause, window, wanted, lang))


def content_of(window: WindowView, lang: Lang) -> str:
    """All that a window shows, as it can be told."""
    say = phrases(lang)
    tags = {one.tag for one in window.items}
    lines = [one.line for one in window.items] if tags - {""} else window.text.splitlines()
    return say.shows.format(window.id, told(lines, lang)) if lines else say.empty.format(window.id)


# --- within ------------------------------------------------------------------------------


def _from_window(clause: Clause, window: WindowView, wanted: list[Token], lang: Lang) -> str:
    say, pool = phrases(lang), shown.main_items(window)
    found = _matching(window, pool, wanted)
    if any(one.has("~howmany") for one in clause.tokens) and (found or not wanted):
        chosen = found if wanted else pool
        names = ", ".join(one_line(one.line, 60) for one in chosen[:10])
        return say.count.format(len(chosen), window.id, names or "–")
    if wanted and _asks_whether(clause):
        phrase = one_line(" ".join(one.text for one in wanted), 60)
        lines = told((one.line for one in found), lang, "")
        return say.there_is.format(window.id, lines) if found else (
            say.there_is_not.format(window.id, phrase))  # fmt: skip
    if found:
        return say.shows.format(window.id, told((one.line for one in found), lang))
    return content_of(window, lang)


def _matching(window: WindowView, pool: Sequence[Item], wanted: list[Token]) -> list[Item]:
    if not wanted:
        return []
    if any(one.has("~exist", "@undone") for one in wanted):
        return [one for one in pool if not _is_done(one)]
    placed = shown.find_by_place(pool, wanted)
    if placed is not None:
        return [placed]
    everything = list(window.items)
    phrase = " ".join(one.text for one in wanted if not one.has("~exist"))
    found = shown.find_by_words(everything, phrase)
    if found.fit >= shown.SOME:
        return list(found.items)
    return shown.marked(pool, wanted) or [
        one for one in everything if one.tag and any(
            likeness(token.keys, keys_of(one.tag)) >= GROUP for token in wanted)
    ]  # fmt: skip


def _is_done(item: Item) -> bool:
    return any(
        value == "true" and any("@done" in keys for keys in keys_of(name))
        for name, value in item.attributes
    )


def _is_about_windows(clause: Clause, around: Surroundings) -> bool:
    said = [one for one in clause.tokens if one.kind is Kind.WORD]
    about = any(one.has("#window") for one in said)
    opened = any(one.has("@open", "~exist") for one in said)
    rest = [one for one in said if not one.has(*_UNTELLING, "#window", "@open", "~exist", "@show")]
    named = max((mention_of(clause, one)[0] for one in around.windows), default=0.0)
    return not rest and (about or opened) and named < 2.0


def _window_of(clause: Clause, around: Surroundings) -> tuple[WindowView | None, list[Token]]:
    """The window that a question is about, and the words that say what of it is wanted."""
    best: tuple[float, WindowView, list[Token]] | None = None
    asked = any(one.has("~it", "~here") for one in clause.tokens)
    for window in around.windows:
        named, places = mention_of(clause, window)
        wanted = [one for place, one in enumerate(clause.tokens) if place not in places
                  and _tells(one)]  # fmt: skip
        found = _matching(window, shown.main_items(window), wanted)
        used = around.used.index(window.id) if window.id in around.used else 9
        score = named + 1.5 * bool(found) + (0.4 / (1 + used)) + 0.6 * (asked and used == 0)
        only = not wanted and len(around.windows) == 1
        if (named >= 0.7 or found or only or (asked and not wanted)) and (
            best is None or score > best[0]
        ):
            best = (score, window, wanted)
    return (best[1], best[2]) if best else (None, [])


def _class_of(clause: Clause, around: Surroundings) -> ClassView | None:
    """A class whose window would tell, if one is clearly meant and needs nothing to be opened."""
    scores = [
        (mention_of(clause, one, strict=False)[0], one)
        for one in around.classes
        if all(arg.optional for arg in one.args)
    ]
    score, best = max(scores, key=lambda one: one[0], default=(0.0, None))
    return best if score >= 0.8 else None


def _tells(token: Token) -> bool:
    if token.kind is Kind.MARK:
        return False
    if token.number and token.number.ordinal:
        return True
    return not token.has(*_UNTELLING) and not token.has("@show", "~polite", "@read")


def _asks_whether(clause: Clause) -> bool:
    first = next((one for one in clause.tokens if one.kind is Kind.WORD), None)
    if first is None:
        return False
    if first.text.isascii():
        return first.has("~is_there", "~be") and not first.has("~what")
    return any(one.has("~is_there") or one.text == "吗" for one in clause.tokens)


def _actions(window: WindowView) -> str:
    return "; ".join(f"{one.id} ({one_line(one.label, 60)})" for one in window.actions[:40])
