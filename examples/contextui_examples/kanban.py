"""Kanban window: cards in columns, buttons in the content, and phrasings for the offline model."""

from collections.abc import Iterable
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, StringConstraints

from contextui import ActionError, Body, Button, Element, Lod, Window, action
from contextui.text import one_line

Column = Literal["todo", "doing", "done"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
COLUMNS: tuple[Column, ...] = get_args(Column)
_ZH = {"todo": "待办", "doing": "进行中", "done": "完成"}
_SHOWN, _NAMED = 30, 20  # cards that a column shows, and that a result names


class Card(BaseModel):
    """A card. Its id never changes."""

    id: int
    text: str
    column: Column = "todo"


class KanbanWindow(Window):
    """A board of cards in the columns todo, doing and done."""

    name = "kanban"
    description_zh = "看板：卡片分为待办、进行中、完成三列。"

    class State(Window.State):
        cards: list[Card] = []
        last_id: int = 0

    state: State

    def opened(self, cards: list[Text] | None = None) -> None:
        for text in cards or []:
            self.add(text)

    def content(self, lod: Lod) -> Body:
        columns = {
            name: [one for one in self.state.cards if one.column == name] for name in COLUMNS
        }
        if lod is Lod.GIST:
            return ", ".join(f"{self._title(name)} {len(columns[name])}" for name in COLUMNS)
        return [self._column(name, cards) for name, cards in columns.items()
                if lod is Lod.FULL or name != "done"]  # fmt: skip

    def _column(self, name: Column, cards: list[Card]) -> Element:
        shown = [Element("card", card.text, id=card.id) for card in cards[:_SHOWN]]
        if hidden := len(cards) - len(shown):
            more = self.env.say(f"… {hidden} more: use find", f"… 另有 {hidden} 张，用 find 查找")
            shown.append(Element("more", more))
        title = self._title(name)
        return Element("column", title, *shown, name=None if title == name else name)

    def anchors(self, lod: Lod) -> Iterable[Button]:
        for card in self.state.cards[:_SHOWN] if lod is Lod.FULL else ():
            if card.column != "done":
                to = COLUMNS[COLUMNS.index(card.column) + 1]
                label = f"{one_line(card.text, 40)} → {self._title(to)}"
                yield Button(
                    f"next-{card.id}", "move", {"card": card.id, "column": to}, label=label
                )

    @action(
        "Add a card",
        zh="添加卡片",
        says=[
            "put {text} on the board",
            "new card {text}",
            "把 {text} 放到看板上",
            "新卡片 {text}",
        ],
    )
    def add(self, text: Text, column: Column = "todo") -> str:
        self.state.last_id += 1
        card = Card(id=self.state.last_id, text=" ".join(text.split()), column=column)
        self.state.cards.append(card)
        title = self._title(column)
        return self.env.say(f"Added {card.id} to {title}.", f"已添加 {card.id} 到{title}。")

    @action(
        "Move a card to a column, by id or text",
        zh="把卡片移到某一列，按 id 或文字",
        says=["{card} is {column}", "put {card} in {column}", "把 {card} 移到 {column}"],
    )
    def move(self, card: int | str, column: Column) -> str:
        found = self._find(card)
        self.state.cards.remove(found)  # a moved card becomes the last one of its column
        self.state.cards.append(found)
        found.column = column
        named = self._named([found])
        return self.env.say(f"Moved: {named}.", f"已移动：{named}。")

    @action(
        "Finish a card, by id or text", zh="完成卡片", says=["done with {card}", "做完了 {card}"]
    )
    def finish(self, card: int | str) -> str:
        return self.move(card, "done")

    @action("Find cards by text", zh="按文字查找卡片", effect="read")
    def find(self, text: str) -> str:
        wanted = text.casefold()
        return self._named([one for one in self.state.cards if wanted in one.text.casefold()])

    @action(
        "Delete a card, by id or text", zh="删除卡片", says=["throw {card} away", "扔掉 {card}"]
    )
    def delete(self, card: int | str) -> str:
        found = self._find(card)
        self.state.cards.remove(found)
        named = self._named([found])
        return self.env.say(f"Deleted: {named}.", f"已删除：{named}。")

    def _find(self, wanted: int | str) -> Card:
        """Find a card by id, by its whole text, or by a part that only one card contains."""
        cards, words = self.state.cards, str(wanted).strip().casefold()
        found = [one for one in cards if str(one.id) == words.lstrip("#")]
        found = found or [one for one in cards if one.text.casefold() == words]
        if words and not words.isdecimal():  # the number 3 does not mean "buy 3 eggs"
            found = found or [one for one in cards if words in one.text.casefold()]
        if len(found) == 1:
            return found[0]
        there, which = self._named(found or cards), repr(words[:80])
        fits = "Several cards fit" if found else "No card fits"
        zh = f"{'有多张' if found else '没有'}卡片符合 {which}。现有：{there}。"
        raise ActionError(self.env.say(f"{fits} {which}. There is: {there}.", zh))

    def _named(self, cards: list[Card]) -> str:
        named = [f"{one.id} {one.text!r} ({self._title(one.column)})" for one in cards[:_NAMED]]
        named += ["…"] if len(cards) > _NAMED else []
        return ", ".join(named) or self.env.say("none", "无")

    def _title(self, column: Column) -> str:
        return self.env.say(column, _ZH[column])
