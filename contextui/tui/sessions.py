"""The slash commands about whole sessions: start, choose, fork, export."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from contextui.errors import ContextUIError, os_reason
from contextui.session.export import Format, exported, write_export, write_file
from contextui.text import quote, shown_path
from contextui.tui.app_session import AppSession
from contextui.tui.commands import Choice
from contextui.tui.inspector.history import read_past, view_of
from contextui.tui.inspector.usage import TurnUsage, total_cost
from contextui.windowing.error_text import reason_of
from contextui.windowing.worker import in_daemon_thread
from contextui.words import msg

if TYPE_CHECKING:
    from contextui.session.catalogue import Place
    from contextui.tui.dialogs.sessions import Chosen
    from contextui.tui.main import MainScreen
    from contextui.tui.switch import Switcher

_ALL = "all"


class SessionCommands:
    """Runs the commands about whole sessions."""

    def __init__(self, main: "MainScreen", switcher: "Switcher", desk: AppSession) -> None:
        self._main, self._switcher, self._desk = main, switcher, desk
        self._words, self._notify = main.words, main.note

    def sessions(self, _: str) -> None:
        from contextui.session.catalogue import Catalogue  # noqa: PLC0415  (only for this)
        from contextui.tui.dialogs.sessions import SessionsScreen  # noqa: PLC0415

        session = self._desk.session
        session.save()
        screen = SessionsScreen(
            self._words,
            Catalogue(session.path.parents[2]),
            Path(session.cwd),
            session.id,
            rename=session.rename,
            export=self._export,
        )
        self._main.app.push_screen(screen, self._go)

    def _go(self, chosen: "Chosen | None") -> None:
        if chosen is not None:
            try:
                self._switcher.switch(chosen.session_id, fork=chosen.act == "fork")
            except ContextUIError as error:
                self._notify(self._words(error))

    def _export(self, place: "Place") -> str:
        session = self._desk.session
        return self._written(place.id, "md", lambda text: write_export(
            text, Path(session.cwd), place.id, "md"))  # fmt: skip

    def fork(self, typed: str) -> None:
        session, turn = self._desk.session, None
        if typed:
            if not (typed.isascii() and typed.isdigit() and int(typed) <= session.turn):
                message = msg("{name} is not a turn of this session: it has {count}.")
                raise ContextUIError(message, name=quote(typed[:40]), count=session.turn)
            turn = int(typed)
        if not session.path.exists():
            raise ContextUIError("There is nothing to fork yet.")
        note = (
            self._words("This is a fork from turn {turn}. The other session stays.", turn=turn)
            if turn is not None
            else self._words("This is a fork. The other session stays.")
        )
        self._switcher.switch(session.id, note, fork=True, turn=turn)

    def cost(self, _: str) -> None:
        session = self._desk.session
        session.save()

        def read() -> str:
            try:
                return "\n".join(self._costs(read_past(session.path).turns))
            except OSError as error:
                return self._words("The log cannot be read: {reason}", reason=os_reason(error))

        self._report(read)

    def _report(self, work: Callable[[], str]) -> None:
        """Do something on a thread, as reading a long log takes time, and show what it returns."""

        async def run() -> None:
            self._notify(await in_daemon_thread(work))

        self._main.app.run_worker(run(), name="report")

    def _costs(self, turns: Sequence[TurnUsage]) -> list[str]:
        if not turns:
            return [self._words("Nothing sent yet. Each turn appears here.")]
        count = len(turns)
        session = msg("This session, 1 turn: ") if count == 1 else msg("This session, {n} turns: ")
        lines = [
            self._words("Last turn: ") + self._spent(turns[-1:], 3),
            self._words(session, n=count) + self._spent(turns, 2),
        ]
        if total_cost(turns) is None:
            free, unknown = msg("The offline model is free."), msg("No price is known.")
            lines.append(self._words(free if self._desk.is_offline else unknown))
        return lines

    def _spent(self, turns: Sequence[TurnUsage], decimals: int) -> str:
        """Return tokens and cost in one line; nothing about a cache where there is none."""
        words, desk = self._words, self._desk
        cached = sum(turn.cached for turn in turns)
        sent = sum(turn.uncached + turn.written for turn in turns) + cached
        requests = sum(turn.requests for turn in turns)
        some = msg("{tokens} tokens sent")
        if requests > len(turns):
            some = msg("{tokens} tokens sent in {count} requests")
        parts = [words(some, tokens=f"{sent:,}", count=requests)]
        if desk.has_cache and not desk.is_offline:
            parts.append(words("{tokens} of them from the cache", tokens=f"{cached:,}"))
        parts.append(words("{tokens} answered", tokens=f"{sum(o.answered for o in turns):,}"))
        if (cost := total_cost(turns)) is not None:
            parts.append(f"${cost:.{decimals}f}")
        return ", ".join(parts)

    # --- export ------------------------------------------------------------------------

    def export(self, typed: str) -> None:
        """Write the conversation to a new file: here, or the one that was typed."""
        form, _, rest = typed.partition(" ")
        if form not in get_args(Format):
            raise ContextUIError("Which one? {names}", names="md | html | json")
        first, _, more = rest.strip().partition(" ")
        is_whole = first == _ALL
        name = more.strip() if is_whole else rest.strip()
        session = self._desk.session
        folder = Path(session.cwd)
        path = folder / Path(name).expanduser()

        def write(text: str) -> Path:
            if name:
                return write_file(path, text)
            return write_export(text, folder, session.id, cast("Format", form))

        self._report(lambda: self._written(session.id, cast("Format", form), write,
                                           include_obsolete=is_whole or form != "md"))  # fmt: skip

    def _written(
        self,
        session_id: str,
        form: Format,
        write: Callable[[str], Path],
        *,
        include_obsolete: bool = False,
    ) -> str:
        lang = self._words.lang
        try:
            view = view_of(self._desk.session, whole=True, session_id=session_id)
            try:
                view.windows.settle_now()
                text = exported(view, form, lang, include_obsolete=include_obsolete)
            finally:
                view.close()
            path = write(text)
        except FileExistsError as error:
            return self._words("Not exported: {reason}", reason=os_reason(error))
        except Exception as error:  # any problem with the log or the disk is reported
            reason = error if isinstance(error, ContextUIError) else reason_of(error)
            return self._words("Not exported: {reason}", reason=reason)
        return self._words("Written to {file}. Only you can read it.", file=shown_path(path))

    def exports(self) -> list[Choice]:
        return [
            Choice("md", self._words("Markdown: what the model reads")),
            Choice(f"md {_ALL}", self._words("Markdown: including closed and hidden items")),
            Choice("html", self._words("a page to read and to share")),
            Choice("json", self._words("everything, for programs")),
        ]
