"""What stands in one line; a click or Enter unfolds the rest of it."""

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static


class FoldedLine(Static):
    """One line, and what is below it once it is unfolded."""

    def __init__(self) -> None:
        super().__init__(classes="call")
        self.is_open = False

    def head(self) -> Content:
        """The line itself."""
        raise NotImplementedError

    def rest(self) -> Content:
        """What is unfolded; empty if there is nothing more."""
        raise NotImplementedError

    def on_click(self) -> None:
        """Unfold it, or fold it again."""
        self.toggle()

    def toggle(self) -> None:
        """Unfold it, or fold it again."""
        self.is_open = not self.is_open
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """One line; unfolded, as many as there are in this width."""
        rest = self.rest() if self.is_open else Content()
        return 1 + rest.get_height({}, width) if rest else 1

    def render(self) -> Content:
        """The line, and below it the rest if it is unfolded."""
        rest = self.rest() if self.is_open else Content()
        return Content("\n").join([self.head(), rest]) if rest else self.head()
