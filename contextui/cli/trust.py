"""`contextui trust`: review a project's windows and MCP servers, and allow them to run."""

import ast
import sys
from collections.abc import Iterator

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, warn
from contextui.cli.flags import UsageError
from contextui.cli.settings import here
from contextui.config.servers import PROJECT_SERVERS, describe, project_servers
from contextui.session.paths import contextui_home
from contextui.text import one_line, shown_path
from contextui.windowing.finding.servers import Found, find_servers
from contextui.windowing.finding.trust import PROJECT_WINDOWS, Review, TrustStore
from contextui.words import plural, t

_LINE = 100  # characters of an answer


def run(arguments: Arguments) -> int:
    """Show the files and the servers, ask, and trust exactly these bytes."""
    store, folder, home = TrustStore(contextui_home()), here() / PROJECT_WINDOWS, contextui_home()
    if store.problem:
        warn(store.problem)
    if arguments.revoke:
        store.revoke(folder)
        store.revoke(here() / PROJECT_SERVERS)
        say(t("{folder} is no longer trusted.", folder=shown_path(folder)))
        return flags.DONE
    review, servers = store.review(folder), find_servers(home, here())
    if arguments.json:
        theirs = servers.review.data() if servers.review else None
        say_json(review.data() | ({"servers": theirs} if theirs else {}))
        return flags.DONE
    if not review.files and servers.review is None:
        for problem in servers.problems:
            if problem.name == PROJECT_SERVERS:
                raise UsageError(t(problem.reason))
        shown = shown_path(folder)
        raise UsageError("There are no windows in {folder}.", folder=shown)
    if review.files:
        _show(review)
    if servers.review is not None:
        _show_servers(servers)
    if review.trusted and (servers.review is None or servers.review.trusted):
        say(t("These files are trusted."))
        return flags.DONE
    if not arguments.yes and not _agreed(review, servers):
        say(t("Nothing was trusted."))
        return flags.FAILED
    store.trust(folder, review)  # what was shown, even if it changed since
    if servers.review is not None:
        store.trust_file(servers.review)
    say(t("Trusted. You will be asked again when a file changes."))
    return flags.DONE


def _show_servers(found: Found) -> None:
    """Show what the servers of .mcp.json would run, before anything of it is trusted."""
    assert found.review is not None
    say(shown_path(found.review.folder.parent))
    for file in found.review.files:
        say(f"  {t(file)}")
    content = found.review.contents[PROJECT_SERVERS]
    listed = project_servers(content, found.review.folder, {})
    for server in listed.servers:
        say(f"      {t('the MCP server {name}', name=one_line(server.name, 80))}")
        for line in describe(server):
            say(f"        {t(line)}")
    for problem in listed.problems:
        say(f"      {one_line(t(problem.reason), 300)}")


def _show(review: Review) -> None:
    say(shown_path(review.folder))
    for file in review.files:
        say(f"  {t(file)}")
        for line in _about(review.contents.get(file.name)):
            say(f"      {line}")


def _about(source: bytes | None) -> Iterator[str]:
    """Summarize a file; nothing of it is run."""
    if source is None:
        return
    yield plural(source.count(b"\n"), "{count} line", "{count} lines")
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield t("This is not valid Python.")
        return
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    imports = sorted({name for node in nodes for name in _imported(node)} - {"contextui"})
    if classes:
        yield t("defines {names}", names=one_line(", ".join(classes), 300))
    if imports:
        yield t("imports {names}", names=one_line(", ".join(imports), 300))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield "." * node.level + (node.module or "").partition(".")[0]


def _agreed(review: Review, servers: Found) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("No terminal to ask on. Review the files, then run contextui trust --yes.")
    asked = t("They run with your permissions. Trust them? [y]es, [N]o, [s]how them: ")
    while True:
        say(asked, end="", flush=True)
        answer = sys.stdin.readline(_LINE).strip().lower()
        if answer not in ("s", "show"):
            return answer in ("y", "yes")
        theirs = servers.review.contents if servers.review else {}
        for name, source in {**review.contents, **theirs}.items():
            say(f"\n── {one_line(name, 160)}")
            say(source.decode(errors="replace"))
