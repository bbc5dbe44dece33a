"""The tokens that 90 tools of MCP servers cost: as schemas of an API, and as windows.

``python -m benchmarks.mcp_tokens`` prints the table of docs/mcp.md.
"""

import json
from pathlib import Path
from typing import Any

from contextui import Action, Lod
from contextui.agent.prompt import class_list
from contextui.config.servers import Server
from contextui.tokens import TokenCounter
from contextui.windowing.blocks import ActionLine, window_xml
from contextui.windowing.snapshot import ContextVersion, Snapshot, SnapshotHeader, SnapshotState
from contextui.windowing.window import utc_now
from contextui.windows.mcp.catalogue import Tool
from contextui.windows.mcp.window import server_window

SERVERS = ("github", "sentry", "linear", "postgres", "browser", "files")
KINDS = ("issue", "comment", "branch", "release", "review")
VERBS = ("create", "get", "list")


def tools_of(server: str) -> list[Tool]:
    """15 tools with descriptions and schemas as long as those of usual servers."""
    return [_tool(server, verb, kind) for kind in KINDS for verb in VERBS]


def _tool(server: str, verb: str, kind: str) -> Tool:
    described = {
        "owner": ("string", f"The account or organization that owns the {kind} on {server}."),
        "repository": ("string", "The name of the repository, without the owner."),
    }
    if verb == "create":
        described["title"] = ("string", f"The title of the {kind}, in one line of plain text.")
        described["body"] = ("string", f"The text of the {kind}; Markdown is allowed here.")
        described["labels"] = ("array", f"Labels to add to the {kind} after it was created.")
    elif verb == "get":
        described["number"] = ("integer", f"The number of the {kind} within the repository.")
    else:
        described["state"] = ("string", "Only those in this state: open, closed or all of them.")
        described["page"] = ("integer", "The page of the list to return, beginning with 1.")
    properties: dict[str, Any] = {
        name: {"type": kind_of, "description": words, "title": name.title()}
        for name, (kind_of, words) in described.items()
    }
    if "labels" in properties:
        properties["labels"]["items"] = {"type": "string"}
    required = [name for name in properties if name not in ("labels", "state", "page")]
    return Tool(
        name=f"{verb}_{kind}",
        id=f"{verb}_{kind}",
        description=f"{verb.title()} a {kind} of a repository. Use this when the user asks about "
        f"the {kind} by name or number; the result has the {kind} with its author, dates and link.",
        params={"type": "object", "properties": properties, "required": required},
    )


def api_schema(tool: Tool) -> str:
    """The tool as an API's request carries it."""
    whole = {"name": tool.name, "description": tool.description, "input_schema": tool.params}
    return json.dumps(whole)


def block(server: str, tools: list[Tool], lod: Lod, *, in_full: bool = False) -> str:
    """The window of a server at a level of detail; or with the whole schema of each tool."""
    actions = [Action(one.id, one.label, "write", one.params, call=print) for one in tools]
    lines = []
    for action, tool in zip(actions, tools, strict=True):
        params = json.dumps(tool.params) if in_full else str(action.params)
        label = tool.description if in_full else action.label
        if not in_full and lod is not Lod.FULL:
            params, label = (params, "") if lod is Lod.SUMMARY else ("", "")
        lines.append(ActionLine(action.id, params, label))
    snapshot = Snapshot(
        header=SnapshotHeader(
            app_id=server, session_id="s", version=ContextVersion(1), timestamp=utc_now()
        ),
        state=SnapshotState(current_lod=lod),
        content=f"{server}, connected, {len(tools)} tools",
        anchors={},
    )
    close = ActionLine("close", "summary:string?", "Close")
    return window_xml(f"{server}_1", f"MCP server, {server}", snapshot, [*lines, close])


def rows() -> list[tuple[str, int]]:
    """What each form costs."""
    count = TokenCounter().count
    servers = {name: tools_of(name) for name in SERVERS}
    classes = [server_window(Server(name, command=name), name, Path()) for name in SERVERS]
    found = [
        (
            "as API schemas",
            sum(count(api_schema(one)) for all_ in servers.values() for one in all_),
        ),
        (
            "as actions with whole schemas",
            sum(
                count(block(name, tools, Lod.FULL, in_full=True)) for name, tools in servers.items()
            ),
        ),
    ]
    for lod in (Lod.FULL, Lod.SUMMARY, Lod.GIST):
        cost = sum(count(block(name, tools, lod)) for name, tools in servers.items())
        found.append((f"open, {lod.value}", cost))
    closed = count(class_list(classes)) - count(class_list([]))
    return [*found, ("closed", closed)]


def main() -> None:
    total = sum(len(tools_of(name)) for name in SERVERS)
    print(f"| {total} tools of {len(SERVERS)} servers | tokens |")
    print("|---|---|")
    for name, cost in rows():
        print(f"| {name} | {cost:,} |")


if __name__ == "__main__":
    main()
