"""Logins: tokens are private and belong to one address; the browser returns to this machine."""

import asyncio
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from mcp.shared.auth import OAuthToken

from contextui.windows.mcp.login import Callback, LoginError, TokenFile

URL = "https://example.org/mcp"
LINK = "https://example.org/login?state=s"


async def test_tokens_are_private_and_of_one_address(tmp_path: Path) -> None:
    file = TokenFile(tmp_path, URL)
    assert await file.get_tokens() is None
    await file.set_tokens(OAuthToken(access_token="secret"))
    found = await file.get_tokens()
    assert found is not None
    assert found.access_token == "secret"
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700
    other = TokenFile(tmp_path, "https://evil.example/mcp")
    file.path.rename(other.path)
    assert await other.get_tokens() is None
    other.path.write_text("damaged", "utf-8")
    assert await other.get_tokens() is None


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=10) as page:
        return str(page.read().decode())


async def test_the_browser_returns_with_a_code(tmp_path: Path) -> None:
    links: list[str] = []

    callback = Callback(TokenFile(tmp_path, URL), links.append)
    await callback.begin(LINK)
    assert links == [LINK]
    waiting = asyncio.create_task(callback.result())
    for other in ("code=evil&state=x", "code=evil", "error=evil", "code=evil&state="):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            await asyncio.to_thread(get, f"{callback.address}?{other}")
    said = await asyncio.to_thread(get, f"{callback.address}?code=abc&state=s")
    assert "You are logged in." in said
    result = await waiting
    assert (result.code, result.state) == ("abc", "s")
    assert links[-1] == ""


async def test_a_refusal_and_a_link_that_is_none_are_errors(tmp_path: Path) -> None:
    callback = Callback(TokenFile(tmp_path, URL), lambda _: None)
    with pytest.raises(LoginError, match="not an address"):
        await callback.begin("file:///etc/passwd")
    await callback.begin(LINK)
    waiting = asyncio.create_task(callback.result())
    await asyncio.to_thread(get, f"{callback.address}?error=access_denied&state=s")
    with pytest.raises(LoginError, match="access_denied"):
        await waiting
