"""Build the model, session and controller from arguments and settings."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextui.agent.approval import ApprovalGate
from contextui.agent.context_space import TurnOptions
from contextui.agent.controller import InteractionController
from contextui.cli.arguments import Arguments
from contextui.cli.console import warn
from contextui.cli.folder import Earlier, Guide, find_earlier, read_guide
from contextui.cli.settings import discovered, here, settings_of
from contextui.config.providers import PROVIDERS, Provider, find, installed, split_model
from contextui.config.settings import OFFLINE, SettingsError
from contextui.config.sources import KEY_VARIABLE, Loaded
from contextui.context.manager import ContextManager
from contextui.context.strategies.registry import load_strategy, make_strategy
from contextui.context.strategies.strategy import ContextStrategy
from contextui.errors import ContextUIError
from contextui.model import Model
from contextui.session.log import SessionLockedError
from contextui.session.paths import contextui_home
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionInfo, SessionStore, model_of
from contextui.text import one_line, shown_path
from contextui.tui.app_session import AppSession
from contextui.windowing.finding.registry import Registry, WindowEntry
from contextui.windowing.finding.source import WindowLoadError
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod
from contextui.words import Lang, Text, t

if TYPE_CHECKING:
    from contextui.tui.switch import Target

_CHOSEN = ("--model", "CONTEXTUI_MODEL")


@dataclass(frozen=True, slots=True)
class Assembly:
    """Everything a turn needs, loaded and checked; no session is created or changed yet."""

    loaded: Loaded
    folder: Path  # the working folder: the session's own, if one is resumed
    earlier: SessionInfo | None
    registry: Registry
    guide: Guide
    model: Model
    before: str  # what answered until now
    strategy: ContextStrategy
    strategy_model: Model | None  # None for `model`
    notices: tuple[Text, ...]

    def store(self) -> SessionStore:
        """Return the session store, configured by the settings."""
        return SessionStore(options=session_options(self.loaded, self.registry))

    def open_session(self, *, fork: bool, turn: int | None = None) -> Session:
        """Open the session to work in: a new one, an earlier one, or a copy of that.

        A copy may end with a turn.
        """
        store = self.store()
        if self.earlier is None:
            return store.create(self.folder, lazy=True)
        return store.fork(self.earlier.id, turn) if fork else store.open(self.earlier.id)

    def controller(self, context: ContextManager) -> InteractionController:
        """Create the controller for a context, with the system prompt installed."""
        settings = self.loaded.settings
        controller = InteractionController(
            model=self.model,
            context=context,
            approval=ApprovalGate(settings.approval, commands=settings.allow_commands),
            options=turn_options(self.loaded),
            tool_protocol=settings.tool_protocol,
        )
        controller.strategist.use(self.strategy, self.strategy_model)
        controller.install_prompt(self.guide.text)
        return controller

    def check_budget(self) -> None:
        """Check that the system prompt leaves room in the budget, with a throwaway context."""
        lang = self.loaded.settings.lang
        windows = WindowManager(self.registry.classes(), lang=lang)
        self.controller(ContextManager(windows)).strategist.check_budget()


def assemble(
    arguments: Arguments, folder: Path | None = None, present: str | None = None, **flags: str
) -> Assembly:
    """Load and check everything a turn needs. A new session gets the `present` model of the app."""
    earlier = find_earlier(arguments)
    folder = Path(earlier.info.cwd) if earlier else folder or here()
    loaded = settings_of(arguments, folder, **flags)
    before = model_of(earlier.info.path) if earlier else present or ""
    if present is not None or not {"model", "provider", "base_url"} & arguments.flags.keys():
        loaded = _remembered(arguments, loaded, folder, before)
    unread = earlier.notices if earlier else ()
    notices: list[Text] = [
        *unread,
        *loaded.notices,
        *_model_notices(loaded),
        *_folder_notices(folder),
    ]
    if ((home := contextui_home()) / "prices.toml").exists():
        from contextui.agent.models.prices import load_prices  # noqa: PLC0415  (not always needed)

        notices += load_prices(home)[1]
    registry = find_windows(loaded, folder)
    guide, chosen, file = read_guide(folder), loaded.settings.strategy, arguments.strategy_file
    model = make_model(loaded)
    strategy_model = make_model(loaded, chosen.model) if chosen.model else None
    warnings = [getattr(one, "warning", None) for one in (model, strategy_model)]
    notices += dict.fromkeys(warning for warning in warnings if warning)
    return Assembly(
        loaded,
        folder,
        earlier.info if earlier else None,
        registry,
        guide,
        model,
        before,
        load_strategy(file) if file else make_strategy(chosen.name, chosen.config),
        strategy_model,
        (*notices, *window_notices(registry), *guide.notices),
    )


def _remembered(arguments: Arguments, loaded: Loaded, folder: Path, name: str) -> Loaded:
    """Return the settings with the model of a session, which never becomes another one."""
    if name == loaded.connection.label or ("/" not in name and name != OFFLINE):  # of an old log
        return loaded
    plain, _, at = name.partition(" ")
    try:
        loaded = _switched(arguments, loaded, folder, plain)
        found, _, found_at = loaded.connection.label.partition(" ")
        if found != plain or bool(at) > bool(found_at):  # it would be another provider's
            raise SettingsError("Its server is not configured.")
        make_model(loaded)
    except ContextUIError as error:
        raise SettingsError(
            "The model of this session, {model}, cannot be used: {reason} --model chooses another.",
            model=name,
            reason=error,
        ) from error
    return loaded


def make_model(loaded: Loaded, name: str | None = None) -> Model:
    """Create the configured model, or another one of the same provider."""
    from contextui.agent.models.factory import create_model, no_key  # noqa: PLC0415  (heavy)
    from contextui.agent.models.limits import AnswerLimits  # noqa: PLC0415  (comes with it)

    settings, connection = loaded.settings, loaded.connection
    origin, provider = loaded.origins["model"], connection.provider
    _check_provider(loaded, settings.model if name is None else name)
    if provider.name == OFFLINE:
        chosen = settings.provider == "auto" and origin in _CHOSEN
        if chosen and settings.model != OFFLINE:
            raise no_key(loaded.connect(PROVIDERS["anthropic"], settings.model))
    elif name is None and provider.api != "messages" and origin in ("default", "ANTHROPIC_MODEL"):
        raise _which_model(provider)
    return create_model(
        loaded.connection_of(name) if name is not None else connection,
        lang=settings.lang,
        limits=AnswerLimits(settings.max_silence, settings.max_answer_time),
    )


def _check_provider(loaded: Loaded, model: str) -> None:
    """Check the part before the slash: Anthropic's own models have none in their names."""
    from contextui.agent.models.factory import unknown_provider  # noqa: PLC0415  (heavy)

    name, slash, _ = model.partition("/")
    servers = loaded.credentials.servers
    is_anthropic = loaded.connection.provider.name in ("anthropic", OFFLINE)
    is_elsewhere = loaded.connect(PROVIDERS["anthropic"]).url is not None
    if not slash or not is_anthropic or is_elsewhere or loaded.settings.provider != "auto":
        return
    if split_model(model, servers)[0] is None:
        provider = find(name, servers)
        if provider is None:
            raise unknown_provider(name, [*PROVIDERS, *servers, *installed()])
        raise _which_model(provider)


def _which_model(provider: Provider) -> SettingsError:
    return SettingsError(
        "Which model of {provider}? Use --model {name}/NAME; contextui models lists them.",
        provider=provider.title,
        name=provider.name,
    )


def turn_options(loaded: Loaded) -> TurnOptions:
    """Return what the settings say about a turn: its budget, its steps, when it compacts."""
    settings = loaded.settings
    return TurnOptions(
        budget=settings.budget,
        max_tokens=settings.max_tokens,
        max_steps=settings.max_steps,
        auto_compact=settings.compaction_auto,
        compact_at=settings.compaction_threshold,
        max_calls=settings.max_calls,
    )


def session_options(loaded: Loaded, registry: Registry) -> SessionOptions:
    """Return what the settings say about new and resumed sessions."""
    settings = loaded.settings
    return SessionOptions(
        classes=registry.classes(),
        lang=settings.lang,
        lod=Lod(settings.windows_lod.capitalize()),
        placement=settings.placement,
        max_windows=settings.max_windows,
        secret_files=settings.secret_files,
        sandbox=settings.sandbox,
    )


def find_windows(loaded: Loaded, folder: Path) -> Registry:
    """Discover and load the windows for a folder."""
    settings, registry = loaded.settings, discovered(loaded, folder)
    registry.load_all()
    named = (*settings.window, *settings.windows)
    for entry in registry.entries:
        if not entry.usable and any(_comes_from(entry, one) for one in named):
            raise WindowLoadError(
                "{window} cannot be used: {reason}.", window=entry.name, reason=t(entry.reason)
            )
    return registry


def open_store(arguments: Arguments, earlier: Earlier) -> tuple[SessionStore, Loaded]:
    """Return the store with a session's settings and windows, and the settings; print notices."""
    folder = Path(earlier.info.cwd)
    loaded = settings_of(arguments, folder)
    registry = find_windows(loaded, folder)
    warn(*earlier.notices, *loaded.notices, *window_notices(registry))
    return SessionStore(options=session_options(loaded, registry)), loaded


def window_notices(registry: Registry, *, trust: bool = True) -> Iterable[Text]:
    """Yield notices about windows that cannot be opened.

    Without `trust`, what waits for it is left out: the screen offers `/trust` instead.
    """
    yield from map(t, registry.notices)
    if trust and registry.untrusted_servers:
        yield t(registry.untrusted_servers)
    for entry in registry.entries:
        is_offered = entry.status == "untrusted" and not trust
        package = entry.entry_point.dist if entry.entry_point else None
        if entry.usable or is_offered or (package and package.name == "contextui"):
            continue  # the person can do nothing about those that are built in
        reason = t(entry.reason).rstrip(".。")
        yield t("The window {window} is skipped: {reason}.", window=entry.name, reason=reason)
    yield from (t(entry.warning) for entry in registry.entries if entry.warning)


def _comes_from(entry: WindowEntry, given: str) -> bool:
    before, colon, _ = given.rpartition(":")
    place = one_line(str(Path(before if colon and before.endswith(".py") else given)), 160)
    paths = (entry.origin, entry.origin.partition(" in ")[2])  # a class in a file
    return any(path == place or path.startswith(f"{place}/") for path in paths)


def _model_notices(loaded: Loaded) -> Iterable[str]:
    settings, origin = loaded.settings, loaded.origins["model"]
    ignored = origin not in ("default", *_CHOSEN) and settings.model != OFFLINE
    if loaded.provider == "offline" and settings.provider == "auto" and ignored:
        yield t(
            "{model} ({origin}) needs {variable}. The offline model is used.",
            model=settings.model,
            origin=origin,
            variable=KEY_VARIABLE,
        )


def _folder_notices(folder: Path) -> Iterable[str]:
    if folder != here():
        shown = shown_path(folder)
        if folder.is_dir():
            yield t("This session belongs to {folder} and runs there.", folder=shown)
        else:
            yield t(
                "This session belongs to {folder}, which no longer exists: it has no files.",
                folder=shown,
            )


def open_app_session(arguments: Arguments) -> AppSession:
    """Open the session for the screen; a copy of it, if it is open elsewhere."""
    assembly = assemble(arguments)
    assembly.check_budget()
    try:
        return desk_of(arguments, assembly, assembly.open_session(fork=arguments.fork))
    except SessionLockedError:
        copied = t("The session is open in another process. This is a copy of it.")
        return desk_of(arguments, assembly, assembly.open_session(fork=True), copied)


def open_target(arguments: Arguments, target: "Target", lang: Lang) -> AppSession:
    """Open another session for a running screen, with that session's own folder and settings."""
    other = Arguments(**vars(arguments))
    other.words, other.newest, other.fork = [], False, False
    other.resume = target.session_id
    assembly = assemble(other, target.folder, target.model, lang=lang)
    assembly.check_budget()
    session = assembly.open_session(fork=target.fork, turn=target.turn)
    return desk_of(other, assembly, session)


def desk_of(
    arguments: Arguments, assembly: Assembly, session: Session, *notices: str
) -> AppSession:
    """Create what a screen works on, and a turn without one."""
    controller = assembly.controller(session.context)
    shown = {t(notice) for notice in window_notices(assembly.registry, trust=False)}
    unshown = {t(notice) for notice in window_notices(assembly.registry)} - shown
    desk = AppSession(
        session,
        controller,
        assembly.registry,
        [*(one for one in map(t, assembly.notices) if one not in unshown), *notices],
        flags=arguments.flags,
        wakes=assembly.loaded.settings.turns_wake,
        notify=assembly.loaded.settings.screen_notify,
    )

    def switch_model(name: str) -> None:
        loaded = _switched(arguments, assembly.loaded, assembly.folder, name)
        controller.model = make_model(loaded)
        desk.note_model(loaded.connection.label, session.model)

    def switch_strategy(name: str) -> None:
        chosen = assembly.loaded.settings.strategy
        config = chosen.config if chosen.name == name else {}
        controller.strategist.use(make_strategy(name, config), assembly.strategy_model)

    desk.note_model(assembly.loaded.connection.label, assembly.before)
    desk.switch_model, desk.switch_strategy = switch_model, switch_strategy
    return desk


def _switched(arguments: Arguments, loaded: Loaded, folder: Path, name: str) -> Loaded:
    """Return the settings with another model.

    An address that was set for one provider is not used for another: its key would go there.
    """
    provider, _ = split_model(name, loaded.credentials.servers)
    flags: dict[str, Any] = {"model": name}
    if provider is not None or name == OFFLINE:
        flags["provider"] = "auto"
    is_other = provider is not None and provider.name != loaded.connection.provider.name
    if is_other and loaded.origins["base_url"] != "ANTHROPIC_BASE_URL":  # for Anthropic in any case
        flags["base_url"] = None
    return settings_of(arguments, folder, **flags)
