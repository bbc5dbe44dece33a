"""Reading the lists of an MCP server: page by page, with limits."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contextui.windows.mcp.catalogue import (
    LISTED_PROMPTS,
    LISTED_RESOURCES,
    LISTED_TOOLS,
    Catalogue,
    prompts_of,
    resources_of,
    tools_of,
)

if TYPE_CHECKING:
    from mcp import Client

_PAGES = 100  # of a list


async def read_catalogue(
    client: "Client",
    kinds: set[str],
    before: Catalogue,
    uses: Callable[[str], bool],
    seconds: float,
) -> Catalogue:
    """Read what a server offers.

    Args:
        client: The connected client.
        kinds: What to read: ``tools``, ``resources`` and ``prompts``.
        before: What was read before; the other kinds stay.
        uses: Returns whether a tool is used, by its name.
        seconds: Maximum time for each page.
    """
    able, new = client.server_capabilities, before.model_copy()
    if "tools" in kinds and able.tools is not None:
        found = await _listed(client.list_tools, "tools", LISTED_TOOLS, seconds)
        new.tools, new.unused, new.dropped = tools_of(found, uses)
    if "resources" in kinds and able.resources is not None:
        found = await _listed(client.list_resources, "resources", LISTED_RESOURCES, seconds)
        new.resources = resources_of(found)
        with suppress(Exception):  # many servers have resources, and no templates
            found = await _listed(
                client.list_resource_templates, "resource_templates", LISTED_RESOURCES, seconds
            )
            new.templates = resources_of(found, "uri_template")
    if "prompts" in kinds and able.prompts is not None:
        found = await _listed(client.list_prompts, "prompts", LISTED_PROMPTS, seconds)
        new.prompts = prompts_of(found)
    return new


async def _listed(
    ask: Callable[..., Awaitable[Any]], name: str, most: int, seconds: float
) -> list[Any]:
    """Read all pages of a list, up to a limit."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        async with asyncio.timeout(seconds):
            answer = await ask(cursor=cursor)
        found += getattr(answer, name)
        cursor = answer.next_cursor
        if cursor is None or len(found) >= most:
            break
    return found[: most * 10]  # those that are too many are counted
