"""How print looks, and the one place where matplotlib's settings are touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import RLock
from typing import Any

from matplotlib import font_manager, rc_context  # noqa: TID253 - only figures.py and pdf.py import this file
from matplotlib.ft2font import FT2Font  # noqa: TID253 - only figures.py and pdf.py import this file

BLACK, MUTED, RIGHT, WRONG = "#1B1F27", "#5A6372", "#1B7F4B", "#B3261E"
STYLE = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7, "xtick.labelsize": 7,
    "ytick.labelsize": 7, "lines.linewidth": 1.2, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.alpha": 0.25, "grid.linewidth": 0.5, "svg.fonttype": "none", "pdf.fonttype": 42,
    "legend.frameon": True, "legend.framealpha": 0.8, "legend.edgecolor": "none", "axes.unicode_minus": True,
    "svg.hashsalt": "workbench", "text.parse_math": False, "text.color": BLACK, "axes.labelcolor": BLACK,
    "axes.titlecolor": BLACK, "axes.edgecolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED,
    "image.composite_image": True, "axes.xmargin": 0.02, "axes.titlepad": 5.0,
}  # fmt: skip
FIRST_FONT = "DejaVu Sans"  # comes with matplotlib
OTHER_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans", "Droid Sans Fallback", "WenQuanYi Micro Hei",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Arial Unicode MS", "Segoe UI",
)  # fmt: skip
UNKNOWN = "\N{WHITE SQUARE}"
_turn = RLock()  # matplotlib's settings and font cache are one for the whole process


@contextmanager
def style() -> Iterator[None]:
    """Draw in the print style. One thread at a time: the settings of matplotlib belong to the process."""
    with _turn, rc_context({**STYLE, "font.family": list(fonts())}):
        yield


@lru_cache(maxsize=1)
def fonts() -> tuple[str, ...]:
    """The fonts that text is drawn with: matplotlib's own, then those of this machine with more letters."""
    there = set(font_manager.fontManager.get_font_names())
    return (FIRST_FONT, *(name for name in OTHER_FONTS if name in there))


@lru_cache(maxsize=1)
def _letters() -> frozenset[int]:
    found: set[int] = set()
    for name in fonts():
        found |= set(FT2Font(font_manager.findfont(name)).get_charmap())
    return frozenset(found)


def font_for(text: str, bold: bool) -> dict[str, Any]:
    """Font arguments of a text; other scripts are never bold: their fonts come in one weight."""
    own = _font(bold).get_charmap()
    if bold and all(ord(character) in own for character in text):
        return {"fontfamily": FIRST_FONT, "fontweight": "bold"}
    return {"fontfamily": list(fonts()), "fontweight": "normal"}


def drawable(text: str) -> str:
    """Text as the fonts can draw it: a square for a letter that none of them has, a space for line ends."""
    known = _letters()
    return "".join(
        " " if not character.isprintable() else character if ord(character) in known else UNKNOWN for character in text
    )


@lru_cache(maxsize=8)
def _font(bold: bool) -> FT2Font:
    return FT2Font(font_manager.findfont(font_manager.FontProperties(FIRST_FONT, weight="bold" if bold else "normal")))


@lru_cache(maxsize=4096)
def _advance(character: str, bold: bool) -> float:
    """Width of one letter of size 1."""
    font = _font(bold)
    font.set_size(100, 72)
    if ord(character) not in font.get_charmap():
        return 1.0  # a letter of another font: as wide as it is high
    return float(font.load_char(ord(character)).linearHoriAdvance) / 65536 / 100


def width(text: str, size: float, bold: bool = False) -> float:
    """Inches that a line takes in `size` points, kerning left out."""
    with _turn:
        return sum(_advance(character, bold) for character in text) * size / 72


def wrapped(text: str, inches: float, size: float, bold: bool = False) -> list[str]:
    """Lines that fit; words too long for a line are broken. An empty text is one empty line."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in drawable(paragraph).split(" "):
            longer = f"{line} {word}" if line else word
            if width(longer, size, bold) <= inches:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while width(line, size, bold) > inches and len(line) > 1:
                fits = _fitting(line, inches, size, bold)
                lines.append(line[:fits])
                line = line[fits:]
        lines.append(line)
    return lines


def shortened(text: str, inches: float, size: float, bold: bool = False) -> str:
    """One line that fits, with an ellipsis where it was cut."""
    text = drawable(text)
    if width(text, size, bold) <= inches:
        return text
    return text[: _fitting(text, inches - width("…", size, bold), size, bold)] + "…"


def _fitting(text: str, inches: float, size: float, bold: bool) -> int:
    """How many letters of a line fit, at least one."""
    taken = 0.0
    for place, character in enumerate(text):
        taken += _advance(character, bold) * size / 72
        if taken > inches:
            return max(1, place)
    return len(text)
