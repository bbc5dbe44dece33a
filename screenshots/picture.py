"""A screen as SVG with every character on its cell, and the SVG as PNG."""

import html
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pyte
from rich.cells import cell_len
from textual.app import App

_FONTS = "JetBrains Mono, Noto Sans Mono CJK SC, DejaVu Sans Mono, monospace"
_CELL = 12.2  # the width of a cell in the SVG that Rich writes
_WIDE, _HIGH = 7.2, 16  # a cell of a terminal's picture
_BARS = {"│": (0.45, 0.12), "▏": (0.0, 0.13), "▌": (0.0, 0.5), "█": (0.0, 1.02)}
_NAMED = {
    "black": "#1b1f27", "red": "#d9656b", "green": "#7fc27f", "brown": "#d5b26a",
    "blue": "#6cb0f5", "magenta": "#b58ae0", "cyan": "#56b6c2", "white": "#d9dce3",
}  # fmt: skip
_TEXT = re.compile(
    r'(<text class="[^"]*" x=")([\d.]+)(" y="[^"]*") textLength="[\d.]+"([^>]*>)([^<]*)(</text>)'
)


def svg_of(app: "App[int]", title: str) -> str:
    """The screen as it is drawn now."""
    svg = app.export_screenshot(title=title)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", _FONTS)
    svg = _TEXT.sub(_on_cells, svg)
    return svg.replace("<style>", "<style>text{font-variant-ligatures:none}", 1)


def svg_of_screen(screen: pyte.Screen) -> str:
    """What a terminal shows."""
    columns, rows = screen.columns, screen.lines
    cells = [(x, y, screen.buffer[y][x]) for y in range(rows) for x in range(columns)]
    grounds = Counter(cell.bg for _, _, cell in cells)
    ground = _colour(grounds.most_common(1)[0][0], "#12151a")
    width, height = columns * _WIDE, rows * _HIGH
    boxes = [f'<rect width="{width:.0f}" height="{height}" fill="{ground}"/>']
    texts = []
    for x, y, cell in cells:
        front, back = _colour(cell.fg, "#d9dce3"), _colour(cell.bg, ground)
        if cell.reverse:
            front, back = back, front
        left, top, size = x * _WIDE, y * _HIGH, _WIDE * max(cell_len(cell.data), 1)
        if back != ground:
            boxes.append(_box(left, top, size + 0.1, back))
        if cell.data in _BARS:
            start, part = _BARS[cell.data]
            boxes.append(_box(left + start * _WIDE, top, part * _WIDE, front))
        elif cell.data.strip():
            style = ' font-weight="bold"' * cell.bold + ' font-style="italic"' * cell.italics
            text = html.escape(cell.data)
            texts.append(f'<text x="{left:.1f}" y="{top + 12}" fill="{front}"{style}>{text}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">'
        f"<style>text{{font:12px {_FONTS};white-space:pre}}</style>{''.join(boxes + texts)}</svg>"
    )


def _box(left: float, top: float, width: float, fill: str) -> str:
    place = f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_HIGH}"'
    return f'<rect {place} fill="{fill}"/>'


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return _NAMED.get(name.removeprefix("bright")) or f"#{name}"


def write_png(svg: Path) -> bool:
    """Draw a PNG beside the SVG, with Chromium; whether there is one to draw with."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg.read_text(encoding="utf-8"))
    if chromium is None or size is None:
        return False
    width, height = (int(float(side)) + 1 for side in size.groups())
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += ["--force-device-scale-factor=1", "--default-background-color=00000000"]
    options += [f"--window-size={width},{height}", f"--screenshot={svg.with_suffix('.png')}"]
    subprocess.run([chromium, *options, svg.absolute().as_uri()], capture_output=True, check=True)
    return True


def _on_cells(match: "re.Match[str]") -> str:
    """Rich gives a text the length of its characters; those that are two cells wide overlap."""
    text = html.unescape(match[5]).replace("\xa0", " ")
    if cell_len(text) == len(text):
        return match[0].replace(" textLength", ' lengthAdjust="spacingAndGlyphs" textLength')
    places, x = [], float(match[2])
    for character in text:
        places.append(f"{x:.1f}")
        x += _CELL * cell_len(character)
    return match[1] + " ".join(places) + match[3] + match[4] + match[5] + match[6]
