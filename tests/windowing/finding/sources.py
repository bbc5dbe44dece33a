"""Files of windows, and what is found of them."""

from importlib.metadata import EntryPoint
from pathlib import Path

from contextui.windowing.finding.registry import Registry, discover

SOURCE = '''
from contextui import Body, Lod, Window, action

class {cls}(Window):
    """{words}"""

    class State(Window.State):
        count: int = 0

    state: State

    def opened(self, start: int = 0) -> None:
        self.state.count = start

    def content(self, lod: Lod) -> Body:
        return "{words} %d" % self.state.count

    @action("Count up")
    def up(self) -> str:
        self.state.count += 1
        return "Up."
'''


def write(path: Path, cls: str = "Hello", words: str = "Says hello.", more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SOURCE.format(cls=cls, words=words) + more, "utf-8")
    return path


def found(**places: object) -> Registry:
    """What is found there, without the packages that happen to be installed."""
    return discover(**{"packages": (), **places})  # type: ignore[arg-type]


def lines(registry: Registry) -> list[str]:
    return [str(entry) for entry in registry.load_all()]


def only_reason(registry: Registry) -> str:
    (entry,) = registry.load_all()
    assert entry.status == "broken"
    assert registry.classes() == []
    return str(entry.reason)


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "contextui.windows")
