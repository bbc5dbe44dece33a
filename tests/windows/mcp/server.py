"""An MCP server of the newer generation, made with the library."""

from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("modern", instructions="A server for tests.")
notes: list[str] = []


class Name(BaseModel):
    name: str


class Issue(BaseModel):
    number: int
    title: str


def ask_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def issues(count: int = 3) -> list[Issue]:
    """List issues."""
    return [Issue(number=number, title=f"Issue {number}") for number in range(count)]


@server.tool()
async def note(text: str, ctx: Context) -> str:
    """Write a note."""
    notes.append(text)
    await ctx.notify_resource_updated("notes://all")
    return f"{len(notes)} notes"


@server.tool()
async def grow(ctx: Context) -> str:
    """Add a tool."""
    server.add_tool(lambda: "grown", name="grown", description="New")
    await ctx.notify_tools_changed()
    return "done"


@server.tool()
async def count(ctx: Context, to: int = 3) -> str:
    """Count with progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"at {number}")
    return f"counted to {to}"


@server.tool()
def greet(name: Annotated[Name, Resolve(ask_name)]) -> str:
    """Greet the person."""
    return f"Hello {name.name}"


@server.resource("notes://all")
def all_notes() -> str:
    """All notes."""
    return "\n".join(notes) or "(none)"


@server.prompt()
def review(topic: str) -> str:
    """Review something."""
    return f"Review {topic}."


if __name__ == "__main__":
    server.run("stdio")
