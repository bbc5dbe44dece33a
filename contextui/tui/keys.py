"""Key queue: handle one key event at a time, in order.

Textual forwards a key to the focused widget and tries bindings after the widget returns it. Keys
that arrive at once, from a paste without brackets or from a program that types, would be reordered:
letters overtake the backspace before them, and a global key overtakes the letters.

A key may move the focus to a pane that is not shown yet. The code that moves it calls `hold`, and
the following keys wait until the focus is there.
"""

import asyncio
import unicodedata
from collections import deque
from collections.abc import Callable
from typing import Any, Generic

from textual import events, on
from textual._context import active_message_pump
from textual.app import App, ReturnType
from textual.await_complete import AwaitComplete
from textual.await_remove import AwaitRemove
from textual.dom import DOMNode
from textual.events import Key
from textual.geometry import Offset
from textual.keys import KEY_NAME_REPLACEMENTS
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Input, TextArea

from contextui.text import for_terminal
from contextui.tui.themes import DARK, THEMES, quiet_roles
from contextui.words import Words

_ROUNDS = 3  # the key itself, what it triggered, as the choice of an option, and what that did
_LOOK = 0.02  # seconds between two checks
_PATIENCE = 1.0  # seconds after which a blocked key no longer holds up the others; see _is_late
_LONGEST_LINE = 10_000  # characters of a paste into a field of one line
_OWN_THEMES = {theme.name: theme for theme in THEMES}


class KeyLine(App[ReturnType], Generic[ReturnType]):
    """An app with our themes, which handles one key or paste at a time.

    Consecutive letters for a text field are sent at once: it keeps their order itself.
    """

    # The default, since a theme that is set later parses all style sheets a second time.
    theme: Reactive[str] = Reactive(DARK.name)
    words = Words("en")

    class Followed(Message):
        """Follows a key through the same widgets, so that it arrives once the key is handled."""

        def __init__(self, number: int, rounds: int = 0) -> None:
            super().__init__()
            self.number, self.rounds = number, rounds

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[events.Event] = deque()
        self._target: DOMNode | None = None  # where a key is being handled
        self._is_writing = False  # whether that key and all since are letters for a text field
        self._has_more = False  # whether letters were sent after that key
        self._number, self._looks = 0, 0
        self._is_there: Callable[[], bool] | None = None  # whether the target of a move is reached
        self._held_looks = 0
        self._pressed_at = Offset()  # of the mouse
        self.last_input = 0.0
        """When the person last pressed a key, clicked, scrolled or pasted, or the focus moved."""

    @property
    def available_themes(self) -> dict[str, Theme]:
        return {**super().available_themes, **_OWN_THEMES}

    def get_theme(self, theme_name: str) -> Theme | None:
        """Return a theme by its name; each line that is drawn asks for the current one."""
        return _OWN_THEMES.get(theme_name) or super().get_theme(theme_name)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return quiet_roles(self.available_themes.get(self.theme, DARK))

    @property
    def has_keys_waiting(self) -> bool:
        return bool(self._waiting) or self._target is not None

    def hold(self, is_there: Callable[[], bool]) -> None:
        """Hold key events back until a condition is true, or for about a second."""
        if self._is_there is None:
            asyncio.get_running_loop().call_later(_LOOK, self._look_whether_there)
        self._is_there, self._held_looks = is_there, 0

    def repeat(self, key: events.Key, is_there: Callable[[], bool]) -> None:
        """Handle a key once more, before those that wait, as soon as a condition is true."""
        self._waiting.appendleft(events.Key(key.key, key.character))
        self.hold(is_there)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text, and say how much it is."""
        super().copy_to_clipboard(text)
        lines = text.count("\n") + (not text.endswith("\n"))
        said = self.words.plural(len(text), "Copied 1 character", "Copied {count} characters")
        if "\n" in text:
            said = self.words.plural(lines, "Copied 1 line", "Copied {count} lines")
        self.notify(said, markup=False)

    def accepts(self, paste: events.Paste) -> bool:  # noqa: ARG002
        return True

    def pop_screen(self) -> AwaitComplete:
        """Pop the current screen, but not because of a second click on one that was popped."""
        caller = active_message_pump.get(None)
        above = caller.ancestors_with_self if isinstance(caller, Widget) else []
        screen = next((one for one in above if isinstance(one, Screen)), self.screen)
        return super().pop_screen() if screen in self.screen_stack else AwaitComplete()

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Remove widgets; their workers end now, and not after the widgets within are gone."""
        for worker in self.workers:
            if not {*nodes}.isdisjoint(worker.node.ancestors_with_self):
                asyncio.get_running_loop().call_soon(worker.cancel)  # once it has begun
        return super()._prune(*nodes, parent=parent)

    async def on_event(self, event: events.Event) -> None:
        """Queue keys and pastes until the previous ones are handled."""
        if _is_input(event) and not event.is_forwarded:
            self.last_input = max(self.last_input, event.time)
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            if isinstance(event, events.MouseDown):
                self._pressed_at = event.screen_offset
            elif isinstance(event, events.MouseUp) and self._pressed_at != event.screen_offset:
                selects = bool(self.screen.selections)  # and is no click
                self._mouse_down_widget = None if selects else self._mouse_down_widget
            await super().on_event(event)
            return
        self._waiting.append(event)
        await self._take_some()

    async def _take_some(self) -> None:
        while self._waiting and self.screen_stack and self._may_go(self._waiting[0]):
            event = self._waiting.popleft()
            is_paste = isinstance(event, events.Key) and event.key == "ctrl+v"
            if is_paste and isinstance(self.focused, Input | TextArea):
                event = events.Paste(self.clipboard)  # as if it came from the terminal
            if isinstance(event, events.Paste):
                if not event.text or not self.accepts(event):
                    continue
                if isinstance(self.focused, Input):
                    event.text = _first_line(event.text)
                else:  # terminals send \r for a line break
                    event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")
            if self._target is not None:
                self._has_more = True
                await super().on_event(event)
                continue
            target = self._target = self.focused or self.screen
            self._is_writing = _is_letter(event) and isinstance(target, Input | TextArea)
            self._number, self._looks = self._number + 1, 0
            self._look_after(self._number)
            await super().on_event(event)
            self._send_after(_ROUNDS - 1)

    def _may_go(self, event: events.Event) -> bool:
        if self._is_there is not None and not self._arrives():
            return False
        if self._target is None:
            return True
        return self._is_writing and _is_letter(event) and self.focused is self._target

    def _send_after(self, rounds: int) -> None:
        target = self._target
        if target is None or not target.post_message(self.Followed(self._number, rounds)):
            self.post_message(self.Followed(self._number))  # it is closing: nothing to wait for

    @on(Followed)
    async def _go_on(self, message: Followed) -> None:
        """Wait for later letters and for what they triggered; then take the next key."""
        if message.number != self._number or self._target is None:
            return  # timed out
        if message.rounds or self._has_more:
            rounds = _ROUNDS - 1 if self._has_more else message.rounds - 1
            self._has_more, self._looks = False, 0
            self._send_after(rounds)
            return
        self._target = None
        await self._take_some()

    def _arrives(self) -> bool:
        if self._is_there is None or self._is_there() or _is_late(self._held_looks):
            self._is_there = None
            return True
        return False

    def _look_whether_there(self) -> None:
        self._held_looks += 1
        if self._arrives():
            self.call_later(self._take_some)
        else:
            asyncio.get_running_loop().call_later(_LOOK, self._look_whether_there)

    def _look_after(self, number: int) -> None:
        """Stop waiting for a key whose widget was removed or is blocked."""
        if number != self._number or self._target is None:
            return
        self._looks += 1
        if not self._target.is_attached or _is_late(self._looks):
            self._has_more = False
            self.post_message(self.Followed(number))
        else:
            asyncio.get_running_loop().call_later(_LOOK, self._look_after, number)


def focus_of(screen: Screen[Any]) -> Widget | None:
    """Return the widget that gets a screen's keys, also while the terminal has lost the focus."""
    if screen.focused is not None:
        return screen.focused
    return screen.app._last_focused_on_app_blur


def _is_late(looks: int) -> bool:
    """Return whether so many checks found no change that the keys wait no longer.

    Checks are counted, not seconds: while the app is busy, the key waits for the same work. By the
    clock, the keys after it would go to the old place, and a letter from there into the prompt.
    """
    return looks * _LOOK > _PATIENCE


def _is_input(event: events.Event) -> bool:
    if isinstance(event, events.MouseMove):
        return bool(event.button)
    return isinstance(event, events.Key | events.Paste | events.MouseEvent)


def _first_line(text: str) -> str:
    """Return what a field of one line takes of a paste: it would show control characters raw."""
    rows = text[:_LONGEST_LINE].strip().splitlines()
    return for_terminal(rows[0], lines=False) if rows else ""


def _is_letter(event: events.Event) -> bool:
    return isinstance(event, events.Key) and event.is_printable


def is_for_prompt(screen: Screen[Any], event: Key) -> bool:
    """Return whether a key that no widget took is text, which belongs into the prompt.

    It is not if the focused list or window has a command on it, or a widget of a window that
    handles keys by itself.
    """
    if not event.is_printable or event.character == " ":
        return False
    focused = screen.focused
    around = focused.ancestors_with_self if focused is not None else []
    # Also one that does not apply now: the same key would act in the next row.
    if any(event.key in node._bindings.key_to_bindings for node in around):
        return False
    own = {"on_key", "_on_key", *(f"key_{name}" for name in event.name_aliases)}
    return not any(
        own & vars(kind).keys()
        for node in around
        for kind in type(node).mro()
        if not kind.__module__.startswith(("contextui.tui.", "textual."))
    )


_MADE_OF = {"。": ".", "【": "[", "】": "]", "、": "/"}  # what input methods make of keys


def letter_of(event: Key) -> str:
    """Return the character of a key in lower case, also of a full-width one of an input method."""
    given = event.character or ""
    return _MADE_OF.get(given, unicodedata.normalize("NFKC", given)).lower()


def meant_key(event: Key) -> str | None:
    """Return the binding name of the intended key, or None if it needs no translation.

    Example:
        >>> meant_key(Key("fullwidth_latin_small_letter_d", "ｄ"))
        'd'
    """
    given = event.character or ""
    plain = _MADE_OF.get(given, unicodedata.normalize("NFKC", given))
    if len(plain) != 1 or plain == given:
        return None
    if plain.isalnum():
        return plain
    name = unicodedata.name(plain).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


async def run_meant(screen: Screen[Any], event: Key) -> None:
    """Run the binding that a full-width letter of an input method means, if there is one."""
    meant = meant_key(event)
    active = screen.active_bindings.get(meant) if meant is not None else None
    if active is not None and active.enabled:
        event.stop()
        await screen.app.run_action(active.binding.action, active.node)
