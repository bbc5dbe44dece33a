"""Approval gate: which model actions need the person's consent, and what they allowed.

An action asks if its `@action` declares the effect ``write``, if it would pass a file that may hold
secrets to the model, or if edits of the person would be lost: see `ApprovalGate.allow`.
"""

import json
import os
import shlex
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from contextui.config.schema import Approval
from contextui.errors import ContextUIError
from contextui.files.errors import FileError
from contextui.files.protection import asks_by_name
from contextui.files.workspace import Workspace
from contextui.shell import NotSimpleError, Pattern, Suggestion, locate, suggest, words_of
from contextui.text import one_line
from contextui.windowing.action import CLOSE, ActionResult
from contextui.windowing.preview import CommandPreview, Preview, Verb
from contextui.windowing.runtime import runtime_of
from contextui.windowing.transaction import Intent, Permit
from contextui.words import Lang, Message, Translatable, Words, msg

_STRICTNESS: tuple[Approval, ...] = ("auto", "ask", "read-only")

Choice = Literal["once", "always", "pattern", "no"]
"""Allow it this time, allow the question's grant or its pattern from now on, or refuse it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission for the rest of the session: one action of a window class on one target.

    The target is the preview's with links resolved; if the preview names none, it is the action of
    this one window with its params as JSON.
    """

    window_class: str
    action_id: str
    target: str


@dataclass(frozen=True, slots=True)
class PatternGrant:
    """Permission for the rest of the session: commands of one pattern.

    It holds for the program that is this file, and for the place of the question: its command
    without the line.
    """

    window_class: str
    action_id: str
    pattern: Pattern
    program: Path
    place: CommandPreview


@dataclass(frozen=True, slots=True)
class Question:
    """An approval question, asked before an action is run.

    Attributes:
        window_id: The window that would act; empty for a tool without a window.
        action_id: The action, or the tool.
        label: The action's label.
        params: The arguments, validated.
        preview: What would change; None if the window provides no preview.
        problem: Why the preview failed; then the action is refused without asking.
        grant: What `always` would allow; None if this target must be confirmed every time.
        changed: Whether the person allowed it, and its effect has changed since.
        pattern: What `pattern` would allow, with examples; None if no pattern is offered.
        no_pattern: Why no pattern is offered for a command, as a part of a sentence.
    """

    window_id: str
    action_id: str
    label: str
    params: Mapping[str, Any]
    preview: Preview | None = None
    problem: str = ""
    grant: Grant | None = None
    changed: bool = False
    pattern: Suggestion | None = None
    no_pattern: Translatable | None = None

    @property
    def name(self) -> str:
        """The action as people and models write it: ``editor_1.save``."""
        return f"{self.window_id}.{self.action_id}" if self.window_id else self.action_id

    @property
    def verb(self) -> Verb:
        """What would be done to the target."""
        return self.preview.verb if self.preview else "run"

    @property
    def target(self) -> str:
        """What would change; without a preview, the action itself."""
        return self.preview.target if self.preview else self.name

    def facts(self) -> dict[str, Any]:
        """Return the action, target and line counts for machine-readable output."""
        shown = self.preview
        return {
            "action": self.name,
            "verb": self.verb,
            "target": self.target,
            "added": shown.added if shown else 0,
            "removed": shown.removed if shown else 0,
            "problem": self.problem,
        }


class NotAllowedError(ContextUIError):
    """The person, or the approval mode, did not allow an action.

    Attributes:
        question: The question that was, or would have been, asked.
        remedy: The flag that would allow it; empty if none would.
    """

    def __init__(self, message: Translatable, question: Question, remedy: str = "") -> None:
        super().__init__(message)
        self.question, self.remedy = question, remedy


@dataclass(frozen=True, slots=True)
class Decision:
    """The person's decision.

    Attributes:
        choice: What they chose.
        words: A message for the model, with a refusal.
        edited: The command to run instead, with `once`; None if it is unchanged.
    """

    choice: Choice
    words: str = ""
    edited: str | None = None

    def __post_init__(self) -> None:
        _check(self.choice, get_args(Choice))
        if self.edited is not None and self.choice != "once":
            raise ValueError("An edited command is allowed once.")


Ask = Callable[[Question], Awaitable[Decision]]


@dataclass(frozen=True, slots=True)
class Allowed:
    """An action that was allowed, and how many lines it adds and removes, as the preview says.

    `ran` is the command that the person wrote in place of the model's, if they did.
    """

    asked: bool
    added: int = 0
    removed: int = 0
    ran: str = ""

    @classmethod
    def of(cls, preview: Preview | None, *, asked: bool) -> "Allowed":
        """Return what was allowed with a preview."""
        return cls(asked, preview.added, preview.removed) if preview else cls(asked)


class ApprovalGate:
    """Allows, asks about or refuses actions; a window's text cannot influence it.

    Grants are held in memory by this gate only: a resumed session asks again.

    Args:
        mode: See `Approval`.
        ask: Asks the person; without it, the mode `ask` refuses.
        commands: Patterns of commands that run without asking, see `Pattern`.

    Attributes:
        waited: Seconds spent so far waiting for the person's decisions.
        allowed: What the gate allowed last, for the line of the call; reset it before a call.

    Raises:
        ValueError: Unknown mode.
        NotSimpleError: Invalid pattern.

    Example:
        >>> gate = ApprovalGate("ask", dialog)
        >>> await windows.act("editor_1", "save", allow=gate.allow)
    """

    def __init__(
        self, mode: Approval = "ask", ask: Ask | None = None, commands: Iterable[str] = ()
    ) -> None:
        _check(mode, get_args(Approval))
        self.ask = ask
        self.waited = 0.0
        self.allowed: Allowed | None = None
        self.mode_changed: Callable[[], None] = lambda: None
        """Callback, called after the mode changed."""
        self._mode: Approval = mode
        self._grants: set[Grant] = set()
        self._commands = tuple(map(Pattern, commands))
        self._pattern_grants: set[PatternGrant] = set()

    @property
    def mode(self) -> Approval:
        """See `Approval`."""
        return self._mode

    @mode.setter
    def mode(self, mode: Approval) -> None:
        _check(mode, get_args(Approval))
        self._mode = mode
        self.mode_changed()

    def tighten(self, mode: Approval) -> None:
        """Use a mode if it allows less than the present one."""
        if _STRICTNESS.index(mode) > _STRICTNESS.index(self._mode):
            self.mode = mode

    async def allow(self, intent: Intent) -> Permit | ActionResult | None:
        """Decide on an intent, see `Allow`.

        Raises:
            NotAllowedError: It may not run; the text gives the reason and the remedy.
        """
        if intent.reads:
            preview = _reading(intent.reads, intent.window.env.lang)
            await self._ask_to_read(_question(intent, preview))
            return None
        if intent.effect == "write":
            return await self._allow_write(intent)
        if runtime_of(intent.window).core.edited_by_person:
            return await self._allow_loss(intent)
        return None

    async def allow_read(
        self, files: Workspace | None, path: str, tool: str, params: Mapping[str, Any], lang: Lang
    ) -> None:
        """Decide whether a tool may pass a file that may hold secrets to the model."""
        preview = _reading(path, lang)
        grant = _file_grant(files, "", tool, preview)
        await self._ask_to_read(Question("", tool, tool, dict(params), preview, grant=grant))

    async def allow_call(
        self, tool: str, label: str, params: Mapping[str, Any], lang: Lang
    ) -> None:
        """Decide whether a function that the application added as a tool may be called.

        Nothing is known about its effect but its arguments, so each call is asked about.
        """
        if self._mode == "auto":
            return
        shown = json.dumps(dict(params), ensure_ascii=False, indent=2, default=str)
        words = Words(lang)
        text = words("{name} would be called with: {params}", name=tool, params=shown)
        preview = Preview(tool, text=text, verb="run")
        label = one_line(label, 200) or tool
        question = Question("", tool, label, dict(params), preview)
        if self._mode == "read-only":
            raise _refusal(_READ_ONLY, question, "--approval ask")
        await self._decide(question)

    async def _ask_to_read(self, question: Question) -> None:
        if self._mode != "auto" and question.grant not in self._grants:
            await self._decide(question)

    async def _allow_write(self, intent: Intent) -> Permit | ActionResult | None:
        """Decide on an action that changes something outside its window."""
        if self._mode == "auto":
            return None
        lang = intent.window.env.lang
        try:
            preview = await runtime_of(intent.window).previews.get(intent)
        except ContextUIError as problem:
            reason = problem.text(lang)
            refused = Message(
                "{name} was not carried out: {reason}", {"name": intent.name, "reason": problem}
            )
            raise NotAllowedError(refused, _question(intent, None, reason)) from problem
        if preview and not preview.changes:
            return ActionResult(True, preview.text or Words(lang)("There is nothing to do."))
        question = _question(intent, preview)
        if self._mode == "read-only":
            raise _refusal(_READ_ONLY, question, "--approval ask")
        if question.grant in self._grants:
            self.allowed = Allowed.of(preview, asked=False)
            return Permit(preview, target_only=True)
        if preview and preview.command and self._allows_command(intent, preview):
            return Permit(preview)
        offered = None
        if question.pattern is not None and preview is not None:
            offered = _pattern_grant(intent, preview, question.pattern.pattern)
        decision = await self._decide(question, intent)
        if decision.choice == "pattern" and offered is not None:
            self._pattern_grants.add(offered)
        if preview is None or preview.command is None or decision.edited is None:
            return Permit(preview)
        return await self._allow_edited(intent, preview, decision.edited)

    def _allows_command(self, intent: Intent, preview: Preview) -> bool:
        """Whether a pattern of the settings or of this session allows a command.

        A pattern of the settings was written without the repository's programs in view. One of the
        session was allowed with them, for as long as they stay the same.
        """
        command = preview.command
        try:
            argv, _ = _simple(intent, preview)
        except NotSimpleError:
            return False
        if (
            command is not None
            and command.programs == ()
            and _is_in_workspace(intent, command)
            and any(pattern.matches(argv) for pattern in self._commands)
        ):
            return True
        return any(
            grant.pattern.matches(argv) and grant == _pattern_grant(intent, preview, grant.pattern)
            for grant in self._pattern_grants
        )

    async def _allow_edited(
        self, intent: Intent, shown: Preview, line: str
    ) -> Permit | ActionResult | None:
        """Permit the command that the person wrote in place of the model's.

        They saw all of it but its effect: if that differs in more than the line, they are asked
        again.
        """
        command, lang = shown.command, intent.window.env.lang
        assert command is not None
        given = {**intent.arguments, command.param: line}
        arguments = intent.action.params.validate(given, intent.name, lang)
        edited = replace(intent, arguments=arguments, changed=True)
        preview = await runtime_of(edited.window).previews.get(edited)
        note = Words(lang)("The person edited the command to: {line}", line=line)
        wanted = replace(command, line=line)
        permit: Permit | ActionResult | None = Permit(preview)
        if preview is None or replace(shown, target=preview.target, command=wanted) != preview:
            permit = await self._allow_write(edited)
        if isinstance(permit, Permit) and permit.arguments is None:
            permit = replace(permit, arguments=arguments, note=note)
            self.allowed = replace(Allowed.of(preview, asked=True), ran=line)
        return permit

    async def _allow_loss(self, intent: Intent) -> Permit | None:
        """Decide on an action that may discard the person's unsaved edits, in every mode."""
        window = intent.window
        try:
            preview = await runtime_of(intent.window).previews.get(intent)
        except ContextUIError:
            # Most actions discard nothing, and a window need not provide a preview of them.
            render = runtime_of(window).renders.latest()
            if intent.action is not CLOSE or not (render.unsaved or render.snapshot.stale):
                return None
            preview = Preview(window.id, text=render.unsaved, verb="close")
        if preview is None or preview.verb != "close" or not preview.changes:
            return None
        question = _question(intent, preview)
        if self.ask is None:
            raise _refusal(_NOBODY_TO_ASK_ABOUT_EDITS, question)
        await self._decide(question)
        return Permit(preview)

    async def _decide(self, question: Question, intent: Intent | None = None) -> Decision:
        """Ask the person, and store the grant if they choose `always`."""
        if self.ask is None:
            raise _nobody_to_ask(question, intent)
        began = time.monotonic()
        try:
            decision = await self.ask(question)
        finally:
            self.waited += time.monotonic() - began
        if decision.choice == "no":
            declined = Message(
                "{name} was not carried out: the person declined.", {"name": question.name}
            )
            if reason := decision.words.strip():
                values = {"declined": declined, "words": reason}
                declined = Message("{declined} They say: {words}", values)
            raise NotAllowedError(declined, question)
        if decision.choice == "always" and question.grant is not None:
            self._grants.add(question.grant)
        self.allowed = Allowed.of(question.preview, asked=True)
        return decision


_READ_ONLY = msg(
    "{name} was not carried out: {what}, and the person allows no changes now (approval is "
    "read-only)."
)
_NOBODY_TO_ASK = msg(
    "{name} was not carried out: {what}, and there is nobody to ask. The person can allow it with "
    "--approval auto."
)
_NOBODY_TO_ASK_ABOUT_EDITS = msg(
    "{name} was not carried out: {what}, and there is nobody to ask. Save them first."
)
_NOBODY_TO_ASK_A_COMMAND = msg(
    "{name} was not carried out: {what}, and there is nobody to ask. The person can allow it with "
    "{remedy} (commands under [approval] in config.toml), or with --approval auto."
)
_NOBODY_TO_ASK_ABOUT_PROGRAMS = msg(
    "{name} was not carried out: {what}, the repository names programs that git may start "
    "({programs}), and there is nobody to ask. The person can allow it with --approval auto."
)
_WOULD: Mapping[Verb, str] = {
    "write": msg("it would write {target}{counts}"),
    "commit": msg("it would write {target}{counts}"),
    "delete": msg("it would delete {target}{counts}"),
    "run": msg("it would run {target}"),
    "type": msg("it would type into {target}"),
    "read": msg("it would read {target}, which may hold secrets"),
    "close": msg("it would discard the person's unsaved edits: {target}{counts}"),
}


def _refusal(text: str, question: Question, remedy: str = "", **values: object) -> NotAllowedError:
    """Build the error, which names the target and the line counts of the refused action."""
    shown, what = question.preview, Message("it writes")
    if shown is not None and shown.target != question.name:
        counts = f" (+{shown.added} −{shown.removed})" if shown.diff else ""
        what = Message(_WOULD[shown.verb], {"target": shown.target, "counts": counts})
    refused = Message(text, {"name": question.name, "what": what, "remedy": remedy, **values})
    return NotAllowedError(refused, question, remedy)


def _nobody_to_ask(question: Question, intent: Intent | None) -> NotAllowedError:
    """Build the error for a question that nobody can answer, with what would allow the action."""
    preview = question.preview
    if intent is not None and preview is not None and (command := preview.command) is not None:
        if command.programs:
            # The kinds only: a value of the config may be a secret, and the model reads this.
            kinds = ", ".join(dict.fromkeys(program.kind for program in command.programs))
            text = _NOBODY_TO_ASK_ABOUT_PROGRAMS
            return _refusal(text, question, "--approval auto", programs=kinds)
        with suppress(NotSimpleError):
            _simple(intent, preview)
            line = Pattern(command.line.strip()).text
            if _is_in_workspace(intent, command):
                remedy = f"--allow-commands {shlex.quote(line)}"
                return _refusal(_NOBODY_TO_ASK_A_COMMAND, question, remedy)
    return _refusal(_NOBODY_TO_ASK, question, "--approval auto")


def _simple(intent: Intent, preview: Preview) -> tuple[tuple[str, ...], Path]:
    """Return the words of a simple command, and the file of its program."""
    command = preview.command
    assert command is not None
    if preview.text or preview.diff or preview.whole:
        raise NotSimpleError("More would happen than this command")
    if command.is_live:
        raise NotSimpleError("Earlier commands may have changed this shell")
    argv = words_of(command.line)
    files = intent.window.env.files
    root = files.root if files is not None else Path(command.folder)
    search = command.search or os.environ.get("PATH", "")
    program = locate(argv[0], search, root) if "/" not in argv[0] else None
    if program is None:
        raise NotSimpleError("{word} is not a program outside this folder", word=argv[0])
    return argv, program


def _is_in_workspace(intent: Intent, command: CommandPreview) -> bool:
    """Whether a command would run in the workspace: patterns of the settings hold only there."""
    files = intent.window.env.files
    if files is None:
        return False
    try:
        return Path(command.folder).resolve().is_relative_to(files.root.resolve())
    except (OSError, RuntimeError):  # a loop of links
        return False


def _pattern_grant(intent: Intent, preview: Preview, pattern: Pattern) -> PatternGrant:
    assert preview.command is not None
    _, program = _simple(intent, preview)
    place = replace(preview.command, line="", seconds=None)
    return PatternGrant(intent.window.name, intent.action.id, pattern, program, place)


def _reading(path: str, lang: Lang) -> Preview:
    return Preview(
        path,
        text=Words(lang)("{path} may hold secrets. Its content would go to the model.", path=path),
        verb="read",
    )


def _question(intent: Intent, preview: Preview | None, problem: str = "") -> Question:
    window, action = intent.window, intent.action
    pattern: Suggestion | None = None
    no_pattern: Translatable | None = None
    if preview is not None and preview.command is not None:
        try:
            pattern = suggest(_simple(intent, preview)[0])
        except NotSimpleError as error:
            no_pattern = error.message
    return Question(
        window.id,
        action.id,
        action.labelled(window.env.lang),
        dict(intent.arguments),
        preview,
        problem,
        None if problem else _grant(intent, preview),
        intent.changed,
        pattern,
        no_pattern,
    )


def _grant(intent: Intent, preview: Preview | None) -> Grant | None:
    """Return what a person may allow for the session: never more than the question names."""
    window, action = intent.window, intent.action
    if preview is not None and preview.command is not None:
        place = asdict(replace(preview.command, seconds=None))
        parts = [place, preview.text, preview.diff, preview.whole]
        return Grant(window.name, action.id, json.dumps(parts, sort_keys=True))
    if preview is None or preview.target == intent.name:
        if not intent.arguments:  # nothing names what the action works on
            return None
        given = json.dumps(dict(intent.arguments), ensure_ascii=False, sort_keys=True, default=str)
        return Grant(window.name, action.id, f"{intent.name} {given}")
    return _file_grant(window.env.files, window.name, action.id, preview)


def _file_grant(
    files: Workspace | None, window_class: str, action_id: str, preview: Preview
) -> Grant | None:
    target = preview.target
    if preview.verb in ("close", "type", "commit"):
        return None
    if preview.verb == "run":
        return Grant(window_class, action_id, target)
    new = preview.whole or preview.diff
    if files is None:
        asks = asks_by_name(target, new) or ".." in target.split("/")
        return None if asks else Grant(window_class, action_id, target)
    if files.asks_every_time(target, new):
        return None
    try:
        return Grant(window_class, action_id, files.resolved(target))
    except FileError:
        return None


def _check(given: str, known: tuple[str, ...]) -> None:
    """Reject unknown values early: a misspelt mode must not let actions pass."""
    if given not in known:
        raise ValueError(f"{given!r} is none of {', '.join(known)}.")
