"""Load the settings from flags, environment variables, config files and the locale."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from contextui.config.credentials import Credentials, StoredKey
from contextui.config.providers import PROVIDERS, Provider, split_model
from contextui.config.schema import (
    CONFIG_FILE,
    LISTS,
    PROJECT_FOLDER,
    SETTINGS,
    Approval,
    flag_of,
    key_of,
    locale_lang,
    locale_variable,
)
from contextui.config.settings import (
    ALLOWED,
    LIMITS,
    OFFLINE,
    PLUGIN_CONFLICT,
    InvalidValueError,
    Settings,
    SettingsError,
    allowed,
    checked,
)
from contextui.errors import ContextUIError, os_reason
from contextui.plain_file import read_plain
from contextui.text import one_line, shown_path
from contextui.words import Message, Text, msg

_NOT_SET = object()


@dataclass(frozen=True, slots=True)
class Layer:
    """The settings from one source.

    Attributes:
        names: What each is called in this source, for errors.
        origin: The source; empty if the name identifies it.
        strict: Whether the values are typed; variables and flags are all text.
    """

    values: Mapping[str, Any]
    names: Mapping[str, str]
    origin: str = ""
    strict: bool = False

    def checked(self) -> dict[str, Any]:
        """Validate and convert the values."""
        found = {}
        for name, value in self.values.items():
            try:
                found[name] = None if value is None else checked(name, value, strict=self.strict)
            except InvalidValueError as error:
                raise self._error(name, error) from error
        return found

    def _error(self, name: str, error: InvalidValueError) -> SettingsError:
        value = self.values[name]
        if isinstance(error.__cause__, ContextUIError):
            return SettingsError(
                "{name} has {value}, which cannot be allowed: {reason}.",
                name=self.names[name],
                value=_shown(error.args[0]),
                reason=error.__cause__,
            )
        if name != "strategy" or not isinstance(value, Mapping):
            return _invalid_value(self.names[name], value, allowed(name))
        return self._table_error(value, next(iter(error.args), None))

    def _table_error(self, table: Mapping[str, Any], wrong: Any) -> SettingsError:
        """Describe the error in a strategy table; without a key, that two of its keys conflict."""
        if wrong is not None and wrong not in ALLOWED:
            named, known = one_line(wrong, 60), ", ".join(ALLOWED)
            return _unknown_setting(self.origin, f"strategy.{named}", known)
        clashes = wrong is None and "plugin" in table
        key = wrong or ("type" if clashes else "plugin")
        wanted = PLUGIN_CONFLICT if clashes else ALLOWED[key]
        return _invalid_value(
            f"strategy.{key} in {self.origin}", table.get(key, _NOT_SET), Message(wanted)
        )


def _invalid_value(name: str, value: object, wanted: Message) -> SettingsError:
    return SettingsError(
        "{name} is {value}: it must be {allowed}.", name=name, value=_shown(value), allowed=wanted
    )


def _unknown_setting(file: str, name: str, known: str) -> SettingsError:
    there_is = Message(" Available: {names}.", {"names": known})
    return SettingsError(_UNKNOWN_SETTING, file=file, name=name, hint=there_is)


_UNKNOWN_SETTING = msg("{file} sets {name}, which is not a setting.{hint}")


def _shown(value: object) -> Text:
    if value is _NOT_SET:
        return Message("not set")
    if isinstance(value, Mapping):
        return Message("a table")
    return one_line(_as_toml(value), 60)


def _as_toml(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


KEY_VARIABLE = "ANTHROPIC_API_KEY"
TOKEN_VARIABLE = "ANTHROPIC_AUTH_TOKEN"
"""The name that gateways use for the key. Both are sent as the same header; the key has
precedence."""

_PREFIX = "CONTEXTUI_"
_OWN_VARIABLES = {"CONTEXTUI_HOME", "CONTEXTUI_DEBUG"}
_PROVIDER_VARIABLES = {"model": "ANTHROPIC_MODEL", "base_url": "ANTHROPIC_BASE_URL"}


def locale_layer(environ: Mapping[str, str]) -> Layer:
    """The language from the locale."""
    variable, lang = locale_variable(environ), locale_lang(environ)
    return Layer({"lang": lang}, {"lang": variable}) if lang else Layer({}, {})


def misspelled(environ: Mapping[str, str]) -> Iterator[Message]:
    """Yield a warning for each variable that looks like a misspelled ``CONTEXTUI_*`` setting."""
    known = {_PREFIX + name.upper() for name in SETTINGS} | _OWN_VARIABLES
    for variable in sorted(environ):
        is_wrong = variable.startswith(_PREFIX) and variable not in known
        if is_wrong and (near := _nearest(variable, known, 0.85)):
            yield Message(
                "{variable} is not a setting. Did you mean {near}?",
                {"variable": one_line(variable), "near": near},
            )


def _nearest(name: str, known: Iterable[str], least: float) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  (most names are right)

    return next(iter(get_close_matches(name, known, 1, least)), "")


def _variables(environ: Mapping[str, str], names: Mapping[str, str]) -> Layer:
    """Read settings from the environment; an empty variable counts as unset."""
    values: dict[str, Any] = {
        name: environ[variable] for name, variable in names.items() if environ.get(variable)
    }
    for name in values.keys() & LISTS:
        values[name] = [one for one in values[name].split(",") if one]
    return Layer(values, {name: names[name] for name in values})


# A project is untrusted: with these it could run its code, or send the key to a third party.
_NOT_FOR_PROJECTS = ("base_url", "provider", "window", "windows", "allow_commands", *LIMITS)
_SERVERS = "mcp"  # the table that `contextui.config.servers` reads
_SECRET_WORDS = ("api_key", "apikey", "auth_token", "secret", "password")
_LARGEST_FILE = 1_000_000
_LEAST_TO_MOST: tuple[Approval, ...] = ("read-only", "ask", "auto")
# What a project may only lower: the rest is the person's risk, or money.
_NOT_TO_RAISE: Mapping[str, Callable[[Any], int]] = {
    "approval": _LEAST_TO_MOST.index,
    "budget": int,
    "max_tokens": int,
    "max_steps": int,
}


def users_layer(home: Path) -> Layer:
    """The settings from the user's own config file."""
    return _file_layer(home / CONFIG_FILE)


def project_layer(project: Path, home: Path, users: Layer, refused: dict[str, Message]) -> Layer:
    """The settings from the project's config file, which cannot exceed the user's permissions.

    `refused` receives a notice, which lacks the value in use, for each setting that is ignored.
    """
    folder = project / PROJECT_FOLDER
    if folder.resolve() == home.resolve():
        return Layer({}, {})  # in the user's home folder the two files are one
    layer = _file_layer(folder / CONFIG_FILE, of_project=True)
    chosen = layer.checked().get("strategy")
    if chosen is not None and chosen.is_third_party:
        raise SettingsError(
            "{file} sets the strategy {name}, which a project may not, as it does not ship with "
            "contextui: give it as a flag, or set it in your own config.toml.",
            file=layer.origin,
            name=chosen,
        )
    model, servers = layer.checked().get("model", ""), Credentials(home).servers
    for one in (model, (chosen.model or "") if chosen is not None else ""):
        if split_model(one, servers)[0] is not None:
            raise SettingsError(
                "{file} sets a model of another provider ({name}), which a project may not: give "
                "it as a flag, or set it in your own config.toml.",
                file=layer.origin,
                name=one_line(one, 60),
            )
    for pattern in layer.checked().get("secret_files", ()):
        if pattern.startswith("!"):
            raise SettingsError(
                "{file} removes {pattern} from secret_files, which a project may not: set it "
                "in your own config.toml.",
                file=layer.origin,
                pattern=one_line(pattern, 60),
            )
    own = users.checked().get("model", "")
    if model and (own == OFFLINE or split_model(own, servers)[0] is not None):
        # A name without a provider would be Anthropic's: the conversation would go elsewhere.
        refused["model"] = Message(
            "{file} asks for the model {wanted}; it stays {usual}, as a project cannot "
            "choose another provider. Use --model {wanted} if you want that.",
            {"file": layer.origin, "wanted": one_line(model, 60)},
        )
    for name, rank in _NOT_TO_RAISE.items():
        wanted = layer.checked().get(name)
        usual = users.checked().get(name, SETTINGS[name].default)
        if wanted is not None and rank(wanted) > rank(usual):
            refused[name] = Message(
                "{file} asks for {name} {wanted}; it stays {usual}, as a project cannot "
                "raise it. Use {flag} {wanted} if you want that.",
                {"file": layer.origin, "name": name, "wanted": wanted, "flag": flag_of(name)},
            )
    values = {name: value for name, value in layer.values.items() if name not in refused}
    return Layer(values, layer.names, layer.origin, strict=True)


def _refusals(refused: Mapping[str, Message], settings: Settings) -> Iterator[Message]:
    """Yield the notices with the value in use, unless it is as much as the project asks for."""
    for name, notice in refused.items():
        usual, wanted = getattr(settings, name), notice.values["wanted"]
        rank = _NOT_TO_RAISE.get(name)
        if usual != wanted if rank is None else rank(usual) < rank(wanted):
            yield Message(notice.id, {**notice.values, "usual": one_line(str(usual), 60)})


def _file_layer(path: Path, *, of_project: bool = False) -> Layer:
    shown = shown_path(path)
    given = read_toml(path)
    if given.pop(_SERVERS, None) is not None and of_project:
        raise SettingsError(
            "{file} sets {name}, which a project may not: configure servers in .mcp.json.",
            file=shown,
            name=_SERVERS,
        )
    values, names = _flattened(given, shown)
    for key in values:
        written = names[key].removesuffix(f" in {shown}")
        _check_key(key, one_line(written, 60), shown, of_project=of_project)
    for name in {"window", "windows"} & values.keys():
        if isinstance(values[name], list):  # otherwise validation rejects it later
            values[name] = [_resolved_beside(path, one) for one in values[name]]
    return Layer(values, names, shown, strict=True)


def _flattened(given: dict[str, Any], shown: str) -> tuple[dict[str, Any], dict[str, str]]:
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    for key, value in given.items():
        inside = {name: one.key for name, one in SETTINGS.items() if one.key.startswith(f"{key}.")}
        table = {inner.partition(".")[2]: name for name, inner in inside.items()}
        if not table or not isinstance(value, dict):
            values[key], names[key] = value, f"{key} in {shown}"
            continue
        for inner, one in value.items():
            if inner not in table:
                named, known = one_line(f"{key}.{inner}", 60), ", ".join(table)
                raise _unknown_setting(shown, named, known)
            values[table[inner]] = one
            names[table[inner]] = f"{key}.{inner} in {shown}"
    return values, names


def _resolved_beside(path: Path, name: object) -> object:
    is_path = isinstance(name, str) and name.strip()  # validation rejects an empty path later
    return str(path.parent / Path(str(name)).expanduser()) if is_path else name


def read_toml(path: Path) -> dict[str, Any]:
    """Read a config file; empty if there is none."""
    shown = shown_path(path)
    try:
        text = read_plain(path, _LARGEST_FILE).decode("utf-8-sig")
        from tomllib import loads  # noqa: PLC0415  (there may be no file)

        return loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError(
            "{file}, line {line}: this is not UTF-8 text.", file=shown, line=line
        ) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(
            "{file} is not valid TOML: {why}.", file=shown, why=one_line(str(error), 200)
        ) from error
    except OSError as error:
        raise SettingsError(
            "{file} cannot be read: {why}.", file=shown, why=os_reason(error)
        ) from error


def _check_key(key: str, named: str, shown: str, *, of_project: bool) -> None:
    plain = key.lower().replace("-", "_")
    if plain != "secret_files" and any(word in plain for word in _SECRET_WORDS):
        variable = TOKEN_VARIABLE if "auth_token" in plain else KEY_VARIABLE
        raise SettingsError(
            "{file} sets {name}: API keys are not allowed in config files. Enter it with /login, "
            "or set the variable {variable}.",
            file=shown,
            name=named,
            variable=variable,
        )
    if of_project and plain in _NOT_FOR_PROJECTS:
        raise SettingsError(
            "{file} sets {name}, which a project may not: give it as a flag, or set it "
            "in your own config.toml.",
            file=shown,
            name=named,
        )
    if key not in SETTINGS:
        raise SettingsError(_UNKNOWN_SETTING, file=shown, name=named, hint=_hint(plain))


def _hint(key: str) -> Message:
    if key == "home":
        return Message(" Set the variable CONTEXTUI_HOME instead.")
    if near := _nearest(key, SETTINGS, 0.5):
        return Message(" Did you mean {near}?", {"near": near})
    return Message(" Available: {names}.", {"names": ", ".join(map(key_of, SETTINGS))})


_DEFAULT = "default"


LOGIN = "/login"
"""The source of a key that the person entered in the app, for messages."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The server that a model is reached at, and the key for it.

    Attributes:
        url: The address, if it is not the provider's own.
        key_source: The variable that holds the key, or should, or the command that entered it.
    """

    provider: Provider
    model: str
    url: str | None = None
    key_source: str = ""
    url_source: str = ""
    _key: str = field(default="", repr=False)
    _stored: StoredKey | None = None
    home: Path | None = None

    @property
    def address(self) -> str:
        """The address, also if it is the provider's own; empty if it has none."""
        return self.url or self.provider.url

    @property
    def host(self) -> str:
        """The server's name and port, for display; the whole address if it is not valid."""
        try:
            return urlsplit(self.address).netloc or self.address
        except ValueError:  # an invalid bracket
            return self.address

    @property
    def label(self) -> str:
        """The name that chooses the model, and its server if that is not the provider's own."""
        if self.provider.api == "none":
            return self.provider.name
        is_own = not self.provider.needs_key or self.address == self.provider.url
        return f"{self.provider.name}/{self.model}" + ("" if is_own else f" ({self.host})")

    @property
    def has_key(self) -> bool:
        """Whether there is a key."""
        return bool(self._key) or self._stored is not None

    def key(self) -> str:
        """Return the key, or ""; the keyring may ask the person for it, and take a while."""
        return self._key or (self._stored.read() if self._stored is not None else "")

    @property
    def key_place(self) -> Literal["", "variable", "keyring", "file"]:
        """Where the key is; empty if there is none."""
        if self._key:
            return "variable"
        return self._stored.where if self._stored is not None else ""

    @property
    def is_ready(self) -> bool:
        """Whether nothing is missing that it needs."""
        is_own = self.url is None or self.url == self.provider.url
        return self.has_key or not (self.provider.needs_key and is_own)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The effective settings and their sources.

    Attributes:
        origins: The source of each, for display: a flag, a variable, a file, or ``default``.
    """

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[Message, ...]
    environ: Mapping[str, str] = field(repr=False)  # it holds keys
    credentials: Credentials = field(repr=False)

    @property
    def connection(self) -> Connection:
        """The connection of the chosen model."""
        settings, servers = self.settings, self.credentials.servers
        provider, name = split_model(settings.model, servers)
        if settings.provider != "auto":
            named = PROVIDERS[settings.provider]
            is_same = provider is not None and provider.name == named.name
            return self.connect(named, name if is_same else settings.model)
        if provider is not None:
            return self.connect(provider, name)
        anthropic = self.connect(PROVIDERS["anthropic"], settings.model)
        is_set = anthropic.has_key or anthropic.url is not None
        if is_set and settings.model != OFFLINE:
            return anthropic
        return self.connect(PROVIDERS["offline"], settings.model)

    def connection_of(self, model: str) -> Connection:
        """Return the connection of another model, by default of the same provider."""
        provider, name = split_model(model, self.credentials.servers)
        return self.connect(provider or self.connection.provider, name)

    def connect(self, provider: Provider, model: str = "") -> Connection:
        """Return the connection to a provider: its address, and the key that belongs there."""
        url, url_source = self._url_of(provider)
        variable = provider.variable_in(self.environ)
        text = self.environ.get(variable, "").strip() if variable else ""
        stored = None if text else self.credentials.get(provider.name)
        # A key that was entered for one address is not sent to another.
        if stored is not None and (stored.url or provider.url) != (url or provider.url):
            stored = None
        return Connection(
            provider,
            model,
            url,
            LOGIN if stored is not None else variable or LOGIN,
            url_source,
            text,
            stored,
            self.credentials.path.parent,
        )

    def _url_of(self, provider: Provider) -> tuple[str | None, str]:
        own = provider.url_variable
        origin = self.origins["base_url"]
        foreign = _PROVIDER_VARIABLES["base_url"]
        url = self.settings.base_url
        if url is not None and (origin != foreign or own == foreign) and self._is_chosen(provider):
            return url, origin
        if own and own != foreign and (given := self.environ.get(own, "").strip()):
            return _full_url(given, provider), own
        return None, own or "--base-url"

    def _is_chosen(self, provider: Provider) -> bool:
        """Whether the settings choose this provider: the base URL is meant for that one only."""
        settings = self.settings
        if settings.provider != "auto":
            return settings.provider == provider.name
        named, _ = split_model(settings.model, self.credentials.servers)
        return provider.name == (named.name if named is not None else "anthropic")

    @property
    def provider(self) -> str:
        """The name of the provider to use, with ``auto`` resolved."""
        return self.connection.provider.name


def _full_url(given: str, provider: Provider) -> str:
    """Complete an address as Ollama does with `OLLAMA_HOST`: it may lack a scheme and a port."""
    url = given.strip("\"' ").rstrip("/")
    if "://" not in url:
        with suppress(ValueError):
            url = f"[{IPv6Address(url.strip('[]'))}]"
        url = f"http://127.0.0.1{url}" if url.startswith(":") else f"http://{url}"
        with suppress(ValueError):  # an invalid port: the check reports it
            parts, port = urlsplit(url), urlsplit(provider.url).port
            if parts.port is None and port is not None:
                url = parts._replace(netloc=f"{parts.netloc}:{port}").geturl()
    return url.replace("://0.0.0.0", "://127.0.0.1").replace("://[::]", "://[::1]")


def load_settings(
    flags: Mapping[str, Any], environ: Mapping[str, str], home: Path, project: Path
) -> Loaded:
    """Load and merge the settings from all sources."""
    refused: dict[str, Message] = {}
    users = users_layer(home)
    layers = [
        locale_layer(environ),
        users,
        project_layer(project, home, users, refused),
        _variables(environ, _PROVIDER_VARIABLES),  # which other programs read too
        _variables(environ, {name: _PREFIX + name.upper() for name in SETTINGS}),
        Layer(flags, {name: flag_of(name) for name in flags}),
    ]
    values: dict[str, Any] = {}
    origins = dict.fromkeys(SETTINGS, _DEFAULT)
    for layer in layers:
        valid = layer.checked()
        for name in {"secret_files", "allow_commands"} & valid.keys():
            # The patterns of all sources accumulate.
            valid[name] = (*values.get(name, ()), *valid[name])
        values |= valid
        origins |= {name: layer.origin or layer.names[name] for name in layer.values}
    credentials = Credentials(home)
    credentials.hide()
    settings = Settings(**values)
    notices = (*misspelled(environ), *_refusals(refused, settings))
    return Loaded(settings, origins, notices, environ, credentials)
