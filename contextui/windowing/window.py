"""`Window`, the base class of every window, and `Env`, what surrounds one."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from contextui.errors import NoWorkspaceError, WindowClosedError, WindowDefinitionError
from contextui.events import Actor, Progress
from contextui.plain_file import make_private
from contextui.text import shown_name
from contextui.windowing import definition
from contextui.windowing.action import Action, AnyAnchor
from contextui.windowing.params import Params
from contextui.windowing.preview import Preview
from contextui.windowing.snapshot import Body, ContextVersion, Lod, Snapshot
from contextui.windowing.state import WindowState
from contextui.words import Lang, Words, msg, translate

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace
    from contextui.processes import Process
    from contextui.windowing.job import Job


class _StateAccess:
    """``self.state``: the live state inside the window's own calls, else a read-only copy."""

    def __get__(self, window: "Window | None", _: object = None) -> Any:
        if window is None:
            return self
        if window._runtime is not None:
            return window._runtime.core.state
        try:
            return window.__dict__["state"]
        except KeyError:
            raise AttributeError("state") from None

    def __set__(self, window: "Window", state: Any) -> None:
        if window._runtime is not None:
            window._runtime.core.state = state
        else:
            window.__dict__["state"] = state


class _Core(Protocol):
    """What a window uses of its `contextui.windowing.core.WindowCore`."""

    id: str
    env: "Env"
    lod: Lod
    version: ContextVersion
    is_opening: bool
    state: WindowState


class _Runtime(Protocol):
    """What a window uses of its `contextui.windowing.runtime.Runtime`."""

    was_open: bool

    @property
    def core(self) -> _Core: ...
    def snapshot(self, lod: Lod | None) -> Snapshot: ...
    def xml(self, lod: Lod | None) -> str: ...


class Window:
    """A live object that the person and the model look at and act on.

    Implement `content`, declare actions with `@action`, and keep data in a ``State``:

        class Counter(Window):
            \"\"\"Counts things.\"\"\"

            class State(Window.State):
                count: int = 0

            state: State

            def content(self, lod: Lod) -> Body:
                return f"{self.state.count} so far"

            @action("Count up")
            def up(self, by: int = 1) -> str:
                self.state.count += by
                return f"Now {self.state.count}"

    The docstring's first line is the description that the model reads. All code of the author runs
    on the window's own thread, one call at a time; state changes only in actions and hooks, each of
    which commits or rolls back as a whole.
    """

    class State(WindowState):
        """Base class of a window's state."""

    name: ClassVar[str] = ""
    """The class's name for `create` and the palette; by default from the Python class name."""
    description: str = ""
    """One line on what the window is for; by default the first line of the docstring."""
    description_zh: ClassVar[str] = ""
    """The description in Chinese."""
    actions: Mapping[str, Action] = {}
    """The actions by id: those declared and, of an open window, those of `more_actions`. Every
    window also has `close(summary)`."""
    opening: ClassVar[Params]
    """The params of `opened`."""
    max_content: ClassVar[int] = 200_000
    """Maximum characters of content, and of a result; the rest is truncated."""
    history_limit: ClassVar[int] = 50
    """Maximum number of actions with results that a snapshot keeps."""
    action_seconds: ClassVar[float] = 30.0
    """Timeout of an action in seconds; then it is rolled back."""
    job_conflicts: ClassVar[bool] = True
    """Whether a model's action is refused once if a job has changed the window since the model saw
    it last, as it is if the person has. False where jobs change it all the time."""
    widget: ClassVar[str | None] = None
    """`module:Class` of the Textual widget that renders this window; imported lazily, by the screen
    only. Without one, the content is shown."""
    wide: ClassVar[bool] = False
    """Whether the window needs 60 columns or more, as code does. It opens in the main place of the
    screen; the others stand side by side."""

    if TYPE_CHECKING:
        state: WindowState
    else:
        state = _StateAccess()
    _runtime: _Runtime | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.actions = definition.declared_actions(cls, Window)
        if "state" in cls.__dict__:
            del cls.state  # a default; `__init__` creates a state per window
        cls.name = definition.name_of(cls)
        definition.check(cls, Window)
        doc = inspect.cleandoc(cls.__dict__.get("__doc__") or "").partition("\n")[0]
        cls.description = cls.__dict__.get("description") or doc or cls.description or cls.name
        if not isinstance(cls.description, str):
            raise WindowDefinitionError(f"{cls.__name__}.description must be text.")
        # A base class's Chinese description does not match this class's English one.
        cls.description_zh = str(cls.__dict__.get("description_zh", ""))
        takes_nothing = cls.opened is Window.opened
        cls.opening = Params(cls.restored if takes_nothing else cls.opened, cls.__name__)

    def __init__(self) -> None:
        self.state = self.State()

    @classmethod
    def described(cls, lang: Lang) -> str:
        """Return the description in this language, or in English if there is no translation."""
        return (lang == "zh" and cls.description_zh) or translate(cls.description, lang)

    # --- what an author implements -----------------------------------------------------

    def content(self, lod: Lod) -> Body:
        """Render the content at this level of detail, as a pure function of the state."""
        raise NotImplementedError(f"{type(self).__name__} has no content()")

    def anchors(self, lod: Lod) -> Iterable[AnyAnchor]:  # noqa: ARG002  for those who override it
        """Return the places in the content that can be acted on or referred to."""
        return ()

    def more_actions(self) -> Iterable[Action]:
        """Return actions that depend on the state, beside those declared with `@action`.

        Read-only, like `content`, and called before it.

        Example:
            >>> for tool in self.state.tools:
            ...     yield Action(tool.name, tool.title, params=tool.schema, call=self._caller(tool))
        """
        return ()

    def preview(
        self,
        action_id: str,  # noqa: ARG002  for those who override it
        params: Mapping[str, Any],  # noqa: ARG002
    ) -> Preview | str | None:
        """Describe what a `write` action would change, for the approval prompt.

        Read-only, like `content`. It is computed again after the approval: if the result differs,
        the action does not run and the person is asked again. If it raises, the action is refused
        with that reason.

        Args:
            action_id: The declared action, even if an anchor was pressed; `close` if the window is
                about to be closed with unsaved edits.
            params: The validated params, without those that were omitted.

        Returns:
            The target and the complete change. Plain text names no target, so an approval for the
            session then covers this window's action with these params. None if the params say
            everything.
        """
        return None

    def shown_files(self) -> Iterable[str] | None:
        """Return the files whose content the window shows now; None means all that it has read.

        Read-only, like `content`. Content of files that may hold secrets is withheld from the model
        until the person allows it.
        """
        return None

    def unsaved(self) -> str | None:
        """Describe in a few words what closing the window now would discard; None if nothing.

        Read-only, like `content`. A model needs approval to close a window with the person's
        unsaved edits; `preview` of the action `close` can show them in full.

        Example:
            >>> def unsaved(self) -> str | None:
            ...     return f"a draft for {self.state.to}" if self.state.draft else None
        """
        return None

    def opened(self, *args: Any, **kwargs: Any) -> Any:
        """Hook, called once when the window opens; its type hints declare the args of `create`.

        Override it with the params the window needs, or none. It may be async.
        """

    def opened_again(self, *args: Any, **kwargs: Any) -> Any:
        """Hook, called instead of `opened` when the window's file is to be opened once more.

        A class that overrides it, with the params of `opened`, has one window for each file:
        `path` is a param of its `opened`, and a part of its state.
        """

    def restored(self) -> Any:
        """Hook, called when the window is restored with its state in a later run.

        It may be async.
        """

    def closed(self, *args: Any, **kwargs: Any) -> Any:
        """Hook, called after the window was closed, or when the program exits.

        Override it as ``closed(self, reason: ClosingReason)``, or without the param. It may be
        async. Its jobs are cancelled before it, and `job_ended` has run for them. At exit it has
        two seconds; then the processes that the window started are terminated.
        """

    def job_ended(self, job: "Job") -> Any:
        """Hook, called in a transaction of its own when a job has ended, however it ended."""

    # --- what the framework provides ---------------------------------------------------

    @property
    def id(self) -> str:
        """The window's id, such as `todo_1`."""
        return self._opened.core.id

    @property
    def env(self) -> "Env":
        """The window's environment: language, clock, files, other windows, timers."""
        return self._opened.core.env

    @property
    def lod(self) -> Lod:
        """The current level of detail."""
        return self._opened.core.lod

    @property
    def version(self) -> ContextVersion:
        """The current version, counted by the framework."""
        return self._opened.core.version

    @property
    def is_opening(self) -> bool:
        """Whether `opened` or `restored` is still running; the window cannot be acted on yet."""
        return self._opened.core.is_opening

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """Return a snapshot of the window, at its current or another level of detail."""
        return self._opened.snapshot(lod)

    def to_xml(self, lod: Lod | None = None) -> str:
        """Return the `<Window>` block that the model reads."""
        return self._opened.xml(lod)

    @property
    def _opened(self) -> _Runtime:
        if self._runtime is None:
            raise WindowClosedError("This {name} window was never opened.", name=self.name)
        return self._runtime


Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current UTC time."""
    return datetime.now(UTC)


class JobStarter(Protocol):
    """Starts a job: work that goes on beside the window's actions."""

    def __call__(
        self,
        name: str,
        work: "Callable[[Job], Awaitable[object]]",
        /,
        *,
        wait: float = 0.0,
        quiet: bool = False,
    ) -> "Job":
        """Start the job as soon as the running action or hook has committed.

        Args:
            name: Its name, as people and models see it.
            work: An async function, called with the job, in the window's event loop. What it
                returns is the job's result.
            wait: Seconds that the action waits for the job's end if it returns the job; the job's
                result is then the action's.
            quiet: Whether its end is not reported to the model, as that of something that the
                person does.
        """
        ...


class ProcessStarter(Protocol):
    """Starts a process that ends with its job, its window and the program."""

    async def __call__(
        self,
        argv: Sequence[str],
        /,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        **streams: Any,
    ) -> "Process":
        """Start a program, in a session of its own.

        Args:
            argv: The program and its arguments; no shell is involved.
            cwd: The folder to run in; by default that of the session.
            env: The whole environment; by default the program's own without the keys of model
                providers.
            streams: See `contextui.processes.start`.

        Raises:
            ProcessError: There is no such program or folder.
        """
        ...


@dataclass(frozen=True, slots=True)
class Env:
    """A window's environment, available as ``self.env``.

    Attributes:
        open: Opens another window by its class's name, with its args by keyword.
        showing: Returns the window that has a file open, if any.
        every: Calls a function periodically, each time in a transaction; it gets the seconds and
            the function, and returns the function that stops the timer.
        change: Changes the state in a job or another task of the window, in a transaction of its
            own: it waits for the running action, and is logged and rendered as soon as it commits.
            Inside an action it is part of that action.
        notify: Reports a line of text to the model, with its next step, and to the person.
        data: The path of the window's own folder in the session, see `data_folder`.
        actor: Returns who runs the current action, "person" or "model".

    Example:
        >>> async def _follow(self, job: Job) -> None:
        ...     async for line in lines:
        ...         async with self.env.change():
        ...             self.state.lines.append(line)
    """

    lang: Lang
    clock: Clock
    open: Callable[..., "Window"]
    showing: Callable[[str], "Window | None"]
    every: Callable[[float, Callable[[], object]], Callable[[], None]]
    job: JobStarter
    change: Callable[[], AbstractAsyncContextManager[None]]
    jobs: Callable[[], Sequence[Progress]]
    process: ProcessStarter
    notify: Callable[[str], None]
    files: "Workspace | None" = None
    sandbox: bool = False
    data: Path | None = None
    actor: Callable[[], Actor] = lambda: "model"

    def data_folder(self) -> Path | None:
        """Create and return the window's own folder for files that are too large for its state.

        The session keeps it beside its log: a resumed window finds its files there. It is private
        to the person, and removed when the window is closed, not when the program exits. None if
        nothing is saved; then use a temporary folder.
        """
        if self.data is not None:
            make_private(self.data)
        return self.data

    def open_file(self, path: str, line: int | None = None) -> str:
        """Open a file in an editor, or go to the one that has it; return which one, in words.

        Args:
            line: The line to go to; by default an open editor stays where it is.
        """
        given = {} if line is None else {"line": line}
        return opening_text(self.open("editor", path=path, **given), Words(self.lang))

    def say(self, english: str, chinese: str = "", **values: object) -> str:
        """Return the text in the window's language, with the values filled in.

        The Chinese texts of contextui's own windows are in its catalogue, those of other windows
        are given here.
        """
        text = chinese if chinese and self.lang == "zh" else english
        return self.words(text, **values)

    @property
    def words(self) -> Words:
        """Translates the messages of contextui's catalogue into the person's language."""
        return Words(self.lang)

    @property
    def workspace(self) -> "Workspace":
        """The files of the session's folder.

        Raises:
            NoWorkspaceError: The session has no folder.
        """
        if self.files is None:
            raise NoWorkspaceError("There is no folder to work in.")
        return self.files


def file_of(window: Window) -> str | None:
    """Return the file that a window was opened for, such as that of an editor; None if none."""
    if not any(param.name == "path" for param in window.opening.listing):
        return None
    path = getattr(window.state, "path", None)
    return path if isinstance(path, str) and path else None


def opening_text(window: Window, words: Words) -> str:
    """Say which window `open` has opened, or that it was open already."""
    file = file_of(window)
    text = msg("Opened {file} in {window}.") if file else msg("Opened {window}.")
    if window.is_opening:
        text = msg("Opening {window}…")
    if window._runtime is not None and window._runtime.was_open:
        text = msg("{file} is open in {window}.")
    return words(text, window=window.id, file=shown_name(file or ""))
