"""A to-do list."""

from pydantic import BaseModel

from contextui import ActionError, Body, Element, Lod, Window, action


class Item(BaseModel):
    """One thing to do. Its id stays with it, whatever happens to the others."""

    id: int
    text: str
    done: bool = False


class TodoWindow(Window):
    """A to-do list."""

    name = "todo"

    class State(Window.State):
        items: list[Item] = []
        last_id: int = 0

    state: State

    def opened(self, items: list[str] | None = None) -> None:
        self._append(items or [])

    def content(self, lod: Lod) -> Body:
        items = self.state.items
        done = sum(item.done for item in items)
        if lod is Lod.GIST:
            words = ("项未完成", "项已完成") if self.env.lang == "zh" else (" open", " done")
            separator = "，" if self.env.lang == "zh" else ", "
            return f"{len(items) - done}{words[0]}{separator}{done}{words[1]}"
        shown = items if lod is Lod.FULL else [item for item in items if not item.done]
        return [Element("item", item.text, id=item.id, done=item.done or None) for item in shown]

    @action("Add one item, or several")
    def add(self, text: str | list[str]) -> str:
        added = self._append([text] if isinstance(text, str) else text)
        if not added:
            raise ActionError("There is nothing to add.")
        return "Added " + ", ".join(f"{item.id} {item.text!r}" for item in added) + "."

    @action("Mark as done, by id or text")
    def done(self, item: int | str) -> str:
        return self._mark(item, True)

    @action("Mark as not done, by id or text")
    def undone(self, item: int | str) -> str:
        return self._mark(item, False)

    @action("Change the text of an item")
    def edit(self, item: int | str, text: str) -> str:
        found = self._find(item)
        found.text = _clean(text)
        return f"{found.id} is now {found.text!r}."

    @action("Delete an item")
    def delete(self, item: int | str) -> str:
        found = self._find(item)
        self.state.items.remove(found)
        return f"Deleted {found.id} {found.text!r}."

    @action("Move an item to a place, 1 is the first")
    def move(self, item: int | str, place: int) -> str:
        items, found = self.state.items, self._find(item)
        if not 1 <= place <= len(items):
            raise ActionError(f"There are places 1 to {len(items)}, not {place}.")
        items.remove(found)
        items.insert(place - 1, found)
        return f"{found.id} {found.text!r} is number {place} now."

    @action("Delete everything that is done")
    def clear_done(self) -> str:
        before = len(self.state.items)
        self.state.items = [item for item in self.state.items if not item.done]
        return f"Deleted {before - len(self.state.items)}, {len(self.state.items)} are left."

    def _append(self, texts: list[str]) -> list[Item]:
        added = []
        for text in texts:
            self.state.last_id += 1
            added.append(Item(id=self.state.last_id, text=_clean(text)))
        self.state.items += added
        return added

    def _mark(self, item: int | str, done: bool) -> str:
        found = self._find(item)
        found.done = done
        return f"{found.id} {found.text!r} is {'done' if done else 'open'}."

    def _find(self, wanted: int | str) -> Item:
        """By id; else by the whole text, or a part of it that only one item has."""
        items = self.state.items
        if isinstance(wanted, int) or wanted.strip().lstrip("#").isdecimal():
            number = int(str(wanted).strip().lstrip("#"))
            found = [item for item in items if item.id == number]
        else:
            words = wanted.strip().casefold()
            found = [item for item in items if item.text.casefold() == words]
            found = found or [item for item in items if words and words in item.text.casefold()]
        if len(found) != 1:
            listing = ", ".join(f"{item.id} {item.text!r}" for item in found or items) or "none"
            what = "Several items fit" if found else "No item fits"
            raise ActionError(f"{what} {str(wanted)!r}. There is: {listing}.")
        return found[0]


def _clean(text: str) -> str:
    line = " ".join(text.split())
    if not line:
        raise ActionError("An item needs words.")
    return line
