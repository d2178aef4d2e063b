"""A figure that can be drawn at any width: lines and letters, not pixels."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from typing import Any, Literal
from warnings import catch_warnings, filterwarnings

from matplotlib import font_manager, rc_context, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

NO_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")  # not allowed in an SVG; UTF-8
COLUMN, FULL = 3.25, 6.75  # inches: a column and the full width of a two-column paper
Format = Literal["svg", "pdf", "png"]
STYLE: dict[str, Any] = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7, "xtick.labelsize": 7,
    "ytick.labelsize": 7, "lines.linewidth": 1.2, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.alpha": 0.25, "grid.linewidth": 0.5, "svg.fonttype": "none", "pdf.fonttype": 42,
    "legend.frameon": False, "axes.unicode_minus": True, "svg.hashsalt": "workbench", "text.parse_math": False,
    "image.composite_image": False,
}  # fmt: skip
PAPER: dict[str, Any] = {**STYLE, "font.family": ["STIXGeneral", "DejaVu Sans"]}  # beside the text of a paper


# For letters that matplotlib's own fonts lack: Chinese, Japanese and Korean, South Asian and others, then emoji. Fonts
# of coloured bitmaps, such as Noto Color Emoji, cannot be drawn.
OTHER_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei", "Droid Sans Fallback",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans GB", "Apple SD Gothic Neo",
    "Arial Unicode MS", "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai",
    "Noto Sans Ethiopic", "Nirmala UI", "Leelawadee UI", "Noto Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Symbola",
)  # fmt: skip


@cache
def _installed(families: tuple[str, ...]) -> list[str]:
    """Those that this machine has: matplotlib warns of each that it does not find."""
    there = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in families if name in there]


@contextmanager
def styled(style: dict[str, Any] = STYLE) -> Iterator[None]:
    """Draw in this style. A letter that its fonts lack comes from an installed one of OTHER_FONTS.

    One that none of them has becomes a box, without a warning on the terminal.
    """
    family = style.get("font.family", rcParams["font.family"])
    with rc_context({**style, "font.family": [*family, *_installed(OTHER_FONTS)]}), catch_warnings():
        filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        yield


def cut(words: str, most: int) -> str:
    """Words with at most so many letters. Names often differ at their end, so the middle is cut."""
    half = (most - 1) // 2
    return words if len(words) <= most else f"{words[: most - 1 - half]}…{words[-half:]}"


def legend_name(name: str) -> str:
    """A name as a legend shows it: one that starts with an underscore matplotlib would leave out."""
    return f" {name}" if name.startswith("_") else name


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What is drawn, and its size.

    Args:
        paint: draws on an empty figure.
        width, height: inches.
        laid_out: whether axes move so that their labels fit; off where `paint` places all itself.
        table: header and rows of the numbers that are drawn.
    """

    paint: Callable[[Figure], None]
    width: float
    height: float
    table: tuple[list[str], list[list[Any]]]
    laid_out: bool = True

    @property
    def wide(self) -> bool:
        """Whether it needs more than a column."""
        return self.width > COLUMN

    def figure(self, width: float | None = None, style: dict[str, Any] = STYLE) -> Figure:
        """A separate figure, `width` inches wide; letters keep their size."""
        wide = width or self.width
        with styled(style):
            figure = Figure(figsize=(wide, self.height * wide / self.width))
            figure.set_layout_engine("constrained" if self.laid_out else "none")
            self.paint(figure)
            FigureCanvasAgg(figure)
        return figure

    def encode(self, kind: Format, width: float | None = None, style: dict[str, Any] = STYLE) -> bytes:
        """A file: SVG with text as text, PDF with whole fonts, PNG at 300 dots per inch."""
        out = BytesIO()
        date = {"Date": None} if kind == "svg" else ({"CreationDate": None} if kind == "pdf" else None)
        with styled(style):
            dots = 200 if kind == "svg" else 300  # of what is drawn as pixels, as very many points are
            self.figure(width, style).savefig(out, format=kind, dpi=dots, metadata=date)
        return NO_XML.sub(b" ", out.getvalue()) if kind == "svg" else out.getvalue()

    def resized(self, width: float, height: float) -> "Drawing":
        """The same at another size, in inches; letters keep theirs."""
        return replace(self, width=width, height=height)
