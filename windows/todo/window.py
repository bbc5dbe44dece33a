"""To-do window: a list of items that can be added, done, edited and moved."""

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Window, action

_LONGEST = 500  # characters of an item
_ROOM = 5_000  # bytes of items that are shown: three make about a token
_NAMED = 20  # items that a result names


class Item(BaseModel):
    """A to-do item. Its id never changes."""

    id: int
    text: str
    done: bool = False


class TodoWindow(Window):
    """A to-do list."""

    name = "todo"
    widget = "contextui.windows.todo.widget:TodoBody"

    class State(Window.State):
        items: list[Item] = []
        last_id: int = 0

    state: State

    def opened(self, items: list[str] | None = None) -> None:
        self._append(items or [])

    def content(self, lod: Lod) -> Body:
        items, say = self.state.items, self.env.say
        done = sum(item.done for item in items)
        still = len(items) - done
        wanted = items if lod is Lod.FULL else [item for item in items if not item.done]
        if lod is Lod.GIST or not wanted:
            return say("{still} open, {done} done", still=still, done=done)
        shown, room = list[Element](), _ROOM
        for item in wanted:
            room -= len(item.text.encode()) + 40
            if room < 0:
                break
            shown.append(Element("item", item.text, id=item.id, done=item.done or None))
        if hidden := len(wanted) - len(shown):
            more = say("… {hidden} more: use find", hidden=hidden)
            shown.append(Element("more", more))
        return shown

    @action("Add one item, or several")
    def add(self, text: str | list[str]) -> str:
        added = self._append([text] if isinstance(text, str) else text)
        if not added:
            raise ActionError("There is nothing to add.")
        named = self._named(added)
        return self.env.say("Added {named}.", named=named)

    @action("Find items by text", effect="read")
    def find(self, text: str) -> str:
        words = text.casefold().split()
        found = [
            item for item in self.state.items if all(word in item.text.casefold() for word in words)
        ]
        count, named = len(self.state.items), self._named(found)
        return self.env.say(
            "{count} of {count2}: {named}.", count=len(found), count2=count, named=named
        )

    @action("Mark as done, by id or text")
    def done(self, item: int | str) -> str:
        return self._mark(item, True)

    @action("Mark as not done, by id or text")
    def undone(self, item: int | str) -> str:
        return self._mark(item, False)

    @action("Change the text of an item")
    def edit(self, item: int | str, text: str) -> str:
        found = self._find(item)
        found.text = self._clean(text)
        words = f"{found.text!r}"
        return self.env.say("{id} is now {words}.", id=found.id, words=words)

    @action("Delete an item")
    def delete(self, item: int | str) -> str:
        found = self._find(item)
        self.state.items.remove(found)
        named = self._named([found])
        return self.env.say("Deleted {named}.", named=named)

    @action("Move an item to a place, 1 is the first")
    def move(self, item: int | str, place: int) -> str:
        items, found = self.state.items, self._find(item)
        if not 1 <= place <= len(items):
            raise ActionError(
                "There is no place {place}; the last is {count}.", place=place, count=len(items)
            )
        items.remove(found)
        items.insert(place - 1, found)
        named = self._named([found])
        return self.env.say("{named} is number {place} now.", named=named, place=place)

    @action("Delete everything that is done")
    def clear_done(self) -> str:
        before = len(self.state.items)
        self.state.items = [item for item in self.state.items if not item.done]
        left = len(self.state.items)
        gone = before - left
        en = f"Deleted {gone}, {left} {'is' if left == 1 else 'are'} left."
        return self.env.say(en, f"已删除 {gone} 项，还剩 {left} 项。")

    def _append(self, texts: list[str]) -> list[Item]:
        added = []
        for text in texts:
            self.state.last_id += 1
            added.append(Item(id=self.state.last_id, text=self._clean(text)))
        self.state.items += added
        return added

    def _mark(self, item: int | str, done: bool) -> str:
        found = self._find(item)
        found.done = done
        named, say = self._named([found]), self.env.say
        return say(
            f"{named} is {'done' if done else 'open'}.", f"{named} {'已' if done else '未'}完成。"
        )

    def _find(self, wanted: int | str) -> Item:
        """Find an item by id, by its whole text, or by a part that only one item contains."""
        items, line = self.state.items, " ".join(str(wanted).split())
        words, number = line.casefold(), line.lstrip("#")
        found = [item for item in items if str(item.id) == number]
        found = found or [item for item in items if item.text.casefold() == words]
        if words and not number.isdecimal():  # the number 3 does not mean "buy 3 eggs"
            found = found or [item for item in items if words in item.text.casefold()]
        if len(found) != 1:
            fits = "Several items fit" if found else "No item fits"
            words, there_is = f"{line[:80]!r}", self._named(found or items)
            zh = f"{'有多项' if found else '没有一项'}符合 {words}。现有：{there_is}。"
            raise ActionError(self.env.say(f"{fits} {words}. Available: {there_is}.", zh))
        return found[0]

    def _clean(self, text: str) -> str:
        line = " ".join(text.encode("utf-8", "replace").decode().split())
        if not line:
            raise ActionError("An item needs words.")
        if len(line) > _LONGEST:
            raise ActionError(
                "An item has up to {longest} characters, not {count}.",
                longest=_LONGEST,
                count=len(line),
            )
        return line

    def _named(self, items: list[Item]) -> str:
        names, more = [f"{item.id} {item.text!r}" for item in items[:_NAMED]], len(items) - _NAMED
        if more > 0:
            names.append(self.env.say("… {more} more", more=more))
        return self.env.say(", ").join(names) or self.env.say("none")
