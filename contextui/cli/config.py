"""`contextui config`: list the settings and where each comes from."""

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, say_table, warn
from contextui.cli.settings import here, settings_of
from contextui.config.providers import PROVIDERS
from contextui.config.schema import SETTINGS, key_of
from contextui.config.settings import OFFLINE, StrategyChoice
from contextui.config.sources import Loaded
from contextui.secrets import mask
from contextui.session.paths import contextui_home
from contextui.text import shown_path
from contextui.words import t


def run(arguments: Arguments) -> int:
    """List the settings; the API key is not a setting and is never shown."""
    folder = here()
    loaded = settings_of(arguments, folder)
    warn(*loaded.notices)
    _check(loaded.settings.strategy)
    if file := arguments.strategy_file:
        from contextui.context.strategies.registry import load_strategy  # noqa: PLC0415  (heavy)

        load_strategy(file)
    chosen = loaded.settings
    values = {name: getattr(chosen, name) for name in SETTINGS} | {
        "strategy": chosen.strategy.plain
    }
    connection = loaded.connection
    has_key = connection.has_key
    if arguments.json:
        settings = {
            name: {"value": value, "origin": loaded.origins[name]} for name, value in values.items()
        }
        places = {"home": str(contextui_home()), "folder": str(folder)}
        say_json({"settings": settings, "provider": loaded.provider, "has_key": has_key, **places})
        return flags.DONE
    rows = [[key_of(name), _value(name, value, loaded), t(loaded.origins[name])]
            for name, value in values.items()]  # fmt: skip
    say_table([[t("setting"), t("value"), t("from")], *rows])
    if connection.provider.name == OFFLINE:
        connection = loaded.connect(PROVIDERS["anthropic"])
    variable = connection.key_source
    key = t("{name} is set." if has_key else "{name} is not set.", name=variable)
    say(f"\n{key}")
    say(t("Data is stored in {folder}.", folder=shown_path(contextui_home())))
    return flags.DONE


def _check(strategy: StrategyChoice) -> None:
    """Check that the strategy exists and has these settings."""
    if strategy.config or strategy.is_third_party:
        from contextui.context.strategies.registry import make_strategy  # noqa: PLC0415  (heavy)

        make_strategy(strategy.name, strategy.config)


def _value(name: str, value: object, loaded: Loaded) -> str:
    if name == "provider" and value == "auto":
        return f"auto ({loaded.provider})"
    if name == "strategy":
        return str(loaded.settings.strategy)
    if isinstance(value, bool):
        return "true" if value else "false"
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value or "")
    return mask(shown) or "-"
