"""`contextui serve`: run the app in a browser."""

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from contextui.cli.arguments import Arguments
from contextui.cli.console import say, warn
from contextui.cli.flags import UsageError
from contextui.cli.folder import find_earlier
from contextui.cli.serve.access import Address
from contextui.cli.settings import here, settings_of
from contextui.config.schema import flag_of
from contextui.words import t

_NEEDED = ("aiohttp", "textual_serve")


def run(arguments: Arguments) -> int:
    """Serve the app until a signal ends it; errors are reported before it starts."""
    if not all(find_spec(name) for name in _NEEDED):
        raise UsageError("contextui serve needs more packages: pip install 'contextui[serve]'")
    earlier = find_earlier(arguments)
    folder = Path(earlier.info.cwd) if earlier else here()
    lang = settings_of(arguments, folder).settings.lang
    address = Address.of(arguments.host, arguments.port)
    if not address.is_loopback:
        warn(
            t(
                "{host} is reachable from other machines. Anyone with the link can use the model "
                "and your files, and the connection is not encrypted.",
                host=arguments.host,
            )
        )
    from contextui.cli.serve.server import Server  # noqa: PLC0415  (heavy: aiohttp)

    server = Server(address, list(settings_flags(arguments)), list(earlier_flags(arguments)), lang)
    return asyncio.run(server.serve(lambda url: say(url, flush=True)))


def earlier_flags(arguments: Arguments) -> Iterator[str]:
    """Yield the flags that select an earlier session, as typed."""
    if arguments.newest:
        yield "--continue"
    if arguments.resume is not None:
        yield f"--resume={arguments.resume}"
    if arguments.fork:
        yield "--fork"


def settings_flags(arguments: Arguments) -> Iterator[str]:
    """Yield the given settings as flags, as typed."""
    for name, value in arguments.flags.items():
        for one in value if isinstance(value, list) else [value]:
            yield f"{flag_of(name)}={one}"
    if arguments.strategy_file:
        yield f"--strategy={arguments.strategy_file}"
