"""The providers of models: where each is found, which API it speaks, where its key is kept.

A model is named `PROVIDER/NAME`, such as ``ollama/qwen3``; without a provider it belongs to the
one that the settings choose. Installed packages add providers by the entry point group
``contextui.models``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "contextui.models"
"""The entry point group of other packages' providers."""

Api = Literal["messages", "chat", "none", "other"]
"""Anthropic's Messages API, OpenAI's chat completions, no network, or another package's own."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models.

    Attributes:
        key_variables: The environment variables that may hold its key, the first one documented.
    """

    name: str
    title: str
    api: Api
    url: str = ""
    key_variables: tuple[str, ...] = ()
    url_variable: str = ""
    needs_key: bool = False
    is_local: bool = False

    @property
    def key_variable(self) -> str:
        """The documented variable of its key; empty if it has none."""
        return self.key_variables[0] if self.key_variables else ""

    def variable_in(self, environ: Mapping[str, str]) -> str:
        """Return the variable that holds its key, or should."""
        held = (variable for variable in self.key_variables if environ.get(variable, "").strip())
        return next(held, self.key_variable)


_BUILT_IN = (
    Provider(
        "anthropic",
        "Anthropic",
        "messages",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        "ANTHROPIC_BASE_URL",
        needs_key=True,
    ),
    Provider(
        "openai",
        "OpenAI",
        "chat",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "OPENAI_BASE_URL",
        needs_key=True,
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        "chat",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        needs_key=True,
    ),
    Provider(
        "ollama",
        "Ollama",
        "chat",
        "http://localhost:11434/v1",
        ("OLLAMA_API_KEY",),
        "OLLAMA_HOST",
        is_local=True,
    ),
    Provider("llamacpp", "llama.cpp", "chat", "http://localhost:8080/v1", is_local=True),
    Provider("lmstudio", "LM Studio", "chat", "http://localhost:1234/v1", is_local=True),
    Provider("vllm", "vLLM", "chat", "http://localhost:8000/v1", is_local=True),
    Provider("offline", "Built in", "none"),
)
PROVIDERS: Mapping[str, Provider] = {one.name: one for one in _BUILT_IN}
"""The built-in providers by name, in the order in which they are listed."""


def installed() -> "dict[str, EntryPoint]":
    """Return the providers of other packages by name; none of their code is loaded."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow)

    found = {point.name: point for point in entry_points(group=GROUP)}
    return {name: one for name, one in found.items() if name not in PROVIDERS}


def find(name: str, servers: Mapping[str, str] | None = None) -> Provider | None:
    """Return a provider by its name: built in, added by the person, or installed."""
    known = PROVIDERS.get(name)
    if known is not None:
        return known
    if servers and name in servers:
        return Provider(name, name, "chat", servers[name])
    if name and name in installed():
        return Provider(name, name, "other")
    return None


def split_model(
    model: str, servers: Mapping[str, str] | None = None
) -> tuple[Provider | None, str]:
    """Split `PROVIDER/NAME`; the provider is None if the part before the slash names none.

    Example:
        >>> provider, name = split_model("openrouter/meta/llama-4")
        >>> provider.name, name
        ('openrouter', 'meta/llama-4')
        >>> split_model("meta/llama-4")
        (None, 'meta/llama-4')
    """
    before, slash, name = model.partition("/")
    if not slash or not name:
        return None, model
    provider = find(before, servers)
    return (provider, name) if provider is not None else (None, model)
