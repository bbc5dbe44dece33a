"""A screen as SVG with every character on its cell, and the SVG as PNG."""

import html
import re
import shutil
import subprocess
from pathlib import Path

from rich.cells import cell_len
from textual.app import App

_FONTS = "JetBrains Mono, Noto Sans Mono CJK SC, DejaVu Sans Mono, monospace"
_CELL = 12.2  # the width of a cell in the SVG that Rich writes
_TEXT = re.compile(
    r'(<text class="[^"]*" x=")([\d.]+)(" y="[^"]*") textLength="[\d.]+"([^>]*>)([^<]*)(</text>)'
)


def svg_of(app: "App[int]", title: str) -> str:
    """The screen as it is drawn now."""
    svg = app.export_screenshot(title=title)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", _FONTS)
    svg = _TEXT.sub(_on_cells, svg)
    return svg.replace("<style>", "<style>text{font-variant-ligatures:none}", 1)


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
