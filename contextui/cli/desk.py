"""What the screen works on, made of arguments and settings."""

from contextui.cli.arguments import Arguments
from contextui.cli.assembling import Assembly, assemble, make_model
from contextui.cli.place import settings_of
from contextui.cli.words import words
from contextui.context.strategies.finding import make_strategy
from contextui.session.log import SessionLockedError
from contextui.session.session import Session
from contextui.tui.desk import Desk


def open_desk(arguments: Arguments) -> Desk:
    """Open the session for the screen; a copy of it, if it is open elsewhere.

    Raises:
        ContextUIError: Something is wrong; the text says what to do.
    """
    assembly = assemble(arguments)
    assembly.check_budget()
    session, notices = _open(assembly, fork=arguments.fork)
    controller = assembly.controller(session.context)
    desk = Desk(
        session,
        controller,
        assembly.registry.entries,
        [*assembly.notices, *notices],
        assembly.loaded.provider == "offline",
    )

    def switch_model(name: str) -> None:
        loaded = settings_of(arguments, assembly.folder, model=name)
        controller.model = make_model(loaded)
        desk.is_offline = loaded.provider == "offline"

    def switch_strategy(name: str) -> None:
        chosen = assembly.loaded.settings.strategy
        config = chosen.config if chosen.name == name else {}
        controller.strategist.use(make_strategy(name, config), assembly.strategy_model)

    desk.switch_model, desk.switch_strategy = switch_model, switch_strategy
    return desk


def _open(assembly: Assembly, *, fork: bool) -> tuple[Session, list[str]]:
    try:
        return assembly.open_session(fork=fork), []
    except SessionLockedError:
        copy = assembly.open_session(fork=True)
        return copy, [words("The session is open in another process. This is a copy of it.")]
