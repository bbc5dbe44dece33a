"""Whom requests go to, and what that one is called before the person."""

from dataclasses import dataclass

from pydantic import SecretStr

from contextui.agent.models import wording
from contextui.agent.models.surroundings import Proxy, proxy_for, shown
from contextui.agent.models.wording import FailureWords
from contextui.config.choices import Lang
from contextui.config.environment import KEY_VARIABLE
from contextui.secrets import mask
from contextui.text import one_line


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom requests go to.

    Attributes:
        url: The server's address.
        model: The model's name.
        key: What is sent to be let in, if there is something.
        lang: The language of the person who reads what went wrong.
        variable: The environment's variable that holds the key, or should.
    """

    url: str
    model: str
    key: SecretStr | None = None
    lang: Lang = "en"
    variable: str = KEY_VARIABLE

    def __str__(self) -> str:
        """The address as it may be shown: without a name and a password in it."""
        return shown(self.url)

    @property
    def words(self) -> FailureWords:
        """What is said, in the person's language."""
        return wording.of(self.lang)

    @property
    def server(self) -> str:
        """What a reply comes from. Only where nothing is encrypted may it be the proxy's own."""
        words, proxy = self.words, proxy_for(self.url)
        server = words.server.format(at=self)
        if proxy is None or not self.url.startswith("http://"):
            return server
        return words.through.format(server=server, way=self.way(proxy))

    def way(self, proxy: Proxy) -> str:
        """The proxy that requests go through, and what names it."""
        return self.words.way.format(proxy=proxy, variable=proxy.variable)


def plain(words: str) -> str:
    """Words of a library or of the system, in one line and without secrets."""
    return one_line(mask(words), 200).rstrip(".")
