"""The report as a PDF of A4 pages, laid out with matplotlib: no browser, no Qt, no network."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workbench.problem import Problem
from workbench.reports.content import NO_CURVES, NO_EVALUATION, Content, interval, percent
from workbench.reports.figures import COLUMN, FULL, Drawing
from workbench.reports.print_style import BLACK, MUTED, drawable, font_for, shortened, style, wrapped
from workbench.reports.sections import SECTIONS

WIDTH, HEIGHT = 8.27, 11.69  # inches, A4
LEFT, TOP, BOTTOM = (WIDTH - FULL) / 2, 0.7, 0.8
LEADING = 1.42  # height of a line, of its letters
GUTTER = FULL - 2 * COLUMN
DPI = 220  # of images inside the pages
RULE = "#D5D9E0"
SHOWN_LEFT_OUT = 30
Cell = tuple[float, float, str, bool]  # inches from the left, inches wide, text, bold


class Pages:
    """Lines, tables and figures placed from top to bottom; a new page when the next does not fit."""

    def __init__(self) -> None:
        self.done: list[Figure] = []
        self._y = HEIGHT

    def text(self, words: str, *, size: float = 9, bold: bool = False, colour: str = BLACK, gap: float = 0.0) -> None:
        """A paragraph over the whole width, then `gap` inches."""
        for line in wrapped(words, FULL, size, bold):
            self.need(_line(size))
            self._put(0.0, line, size, bold, colour)
            self._y += _line(size)
        self._y += gap

    def heading(self, words: str, *, size: float = 13, keep: float = 1.0) -> None:
        """A heading, on one page with the next `keep` inches."""
        before = 0.2 if self.done and self._y > TOP else 0.0
        self.need(before + _line(size) + 0.06 + keep)
        self._y += before if self._y > TOP else 0.0
        self.text(words, size=size, bold=True, gap=0.06)

    def row(self, cells: list[Cell], *, size: float = 8, ruled: bool = False) -> None:
        """Cells side by side; long text goes on below, and a row is never torn apart."""
        lines = [(x, wrapped(words, width, size, bold), bold) for x, width, words, bold in cells]
        high = max(len(of) for _, of, _ in lines) * _line(size) + 0.02
        self.need(high)
        for x, of, bold in lines:
            for place, line in enumerate(of):
                self._put(x, line, size, bold, BLACK, below=place * _line(size))
        self._y += high
        if ruled:
            self._rule()

    def figures(self, drawings: list[Drawing]) -> None:
        """Figures beside each other as far as they fit, then below."""
        while drawings:
            beside = 2 if len(drawings) > 1 and all(each.width <= COLUMN for each in drawings[:2]) else 1
            now, drawings = drawings[:beside], drawings[beside:]
            high = max(each.height for each in now)
            page = self.need(high)
            for place, each in enumerate(now):
                each.on(page, LEFT + place * (COLUMN + GUTTER), self._y)
            self._y += high + 0.12

    def need(self, height: float) -> Figure:
        """The page that has that many inches left: this one or a new one."""
        if self._y + height > HEIGHT - BOTTOM:
            page = Figure(figsize=(WIDTH, HEIGHT))
            page.set_layout_engine("none")
            self.done.append(page)
            self._y = TOP
        return self.done[-1]

    def number(self, title: str) -> None:
        """The title and "2 / 5" at the foot of every page."""
        foot = 0.45 / HEIGHT
        for place, page in enumerate(self.done, start=1):
            right = (LEFT + FULL) / WIDTH
            page.text(LEFT / WIDTH, foot, shortened(title, FULL - 1, 7), fontsize=7, color=MUTED)
            page.text(right, foot, f"{place} / {len(self.done)}", fontsize=7, ha="right", color=MUTED)

    def _put(self, x: float, line: str, size: float, bold: bool, colour: str, below: float = 0.0) -> None:
        y = 1 - (self._y + below + size / 72) / HEIGHT
        self.done[-1].text((LEFT + x) / WIDTH, y, line, fontsize=size, color=colour, **font_for(line, bold))

    def _rule(self) -> None:
        y = 1 - self._y / HEIGHT
        ends = (LEFT / WIDTH, (LEFT + FULL) / WIDTH)
        self.done[-1].add_artist(Line2D(ends, (y, y), color=RULE, linewidth=0.5))
        self._y += 0.03


def _line(size: float) -> float:
    """Inches from one line to the next."""
    return size * LEADING / 72


def lay_out(content: Content, drawn: dict[str, Drawing]) -> list[Figure]:
    """The report's pages as A4 figures, for the PDF and for the preview. Call it inside `style`."""
    pages = Pages()
    pages.text(content.title, size=18, bold=True, gap=0.04)
    pages.text(content.subtitle, colour=MUTED, gap=0.08)
    if content.notes:
        pages.text(content.notes, gap=0.08)
    for section in content.sections:
        pages.heading(SECTIONS[section], keep=_kept(section, drawn))
        LAYOUTS[section](pages, content, drawn)
    pages.number(content.title)
    return pages.done


def encode(content: Content, drawn: dict[str, Drawing]) -> bytes:
    """The PDF. Raises Problem when what was written is not whole."""
    out = BytesIO()
    facts = {"Title": drawable(content.title), "Creator": "Workbench", "CreationDate": None}
    with style(), PdfPages(out, metadata=facts) as book:
        for page in lay_out(content, drawn):
            book.savefig(page, dpi=DPI)
    data = out.getvalue()
    if not data.startswith(b"%PDF-") or b"%%EOF" not in data[-32:]:
        raise Problem("The PDF could not be made whole.", kept="No file was changed.", todo="Try again.")
    return data


def preview(
    content: Content, drawn: dict[str, Drawing], dpi: float, each: Callable[[int, int, np.ndarray], None]
) -> None:
    """Paint every page and hand it to `each` as (page from 0, pages, uint8 [h, w, 4]); `each` may raise to give up."""
    with style():
        pages = lay_out(content, drawn)
    for place, page in enumerate(pages):
        with style():
            page.set_dpi(dpi)
            canvas = FigureCanvasAgg(page)
            canvas.draw()
            painted = np.asarray(canvas.buffer_rgba()).copy()
        each(place, len(pages), painted)


# Sections


def _summary(pages: Pages, content: Content, drawn: dict[str, Drawing]) -> None:
    for sentence in content.summary:
        pages.text(sentence, gap=0.03)


def _settings(pages: Pages, content: Content, drawn: dict[str, Drawing]) -> None:
    pages.text(content.settings_note, size=8, colour=MUTED, gap=0.04)
    half = (len(content.settings) + 1) // 2
    label, value = 1.9, COLUMN - 1.9 - 0.1
    for row in range(half):
        cells: list[Cell] = []
        for column, place in enumerate((row, row + half)):
            if place < len(content.settings):
                each, x = content.settings[place], column * (COLUMN + GUTTER)
                named = each.label if each.section == "run" else f"{each.section.capitalize()}: {each.label}"
                cells += [(x, label - 0.1, named, each.changed), (x + label, value, each.value, each.changed)]
        pages.row(cells, size=7.5, ruled=True)


def _curves(pages: Pages, content: Content, drawn: dict[str, Drawing]) -> None:
    found = [drawn[name] for name in ("ce-spce", "retrieval", "loss") if name in drawn]
    if not found:
        pages.text(NO_CURVES, colour=MUTED)
        return
    pages.figures(found)
    pages.text(" ".join(each.caption for each in found), size=8, colour=MUTED)


def _metrics(pages: Pages, content: Content, drawn: dict[str, Drawing]) -> None:
    if not content.best or not content.last:
        pages.text(NO_EVALUATION, colour=MUTED)
        return
    columns = ((0.0, 1.0), (1.1, 1.1), (2.3, 1.6), (4.1, 1.1), (5.3, 1.5))
    heads = (
        "Metric ↑", f"Best (epoch {content.best.epoch})", "95% interval", f"Last (epoch {content.last.epoch})",
        "95% interval",
    )  # fmt: skip
    pages.row([(*at, head, True) for at, head in zip(columns, heads, strict=True)], ruled=True)
    for row in content.metrics:
        words = (
            row.name, percent(row.best), interval(row.low, row.high), percent(row.last),
            interval(row.last_low, row.last_high),
        )  # fmt: skip
        pages.row([(*at, word, False) for at, word in zip(columns, words, strict=True)], ruled=True)
    pages.text(content.metrics_note, size=8, colour=MUTED)


def _map(pages: Pages, content: Content, drawn: dict[str, Drawing]) -> None:
    if "map" not in drawn:
        pages.text(content.map_note, colour=MUTED)
        return
    pages.figures([drawn["map"]])
    pages.text(drawn["map"].caption, size=8, colour=MUTED)


def _queries(pages: Pages, content: Content, drawn: dict[str, Drawing]) -> None:
    pages.text(content.queries_note, size=8, colour=MUTED, gap=0.04)
    for name in ("worst", "best"):
        if name in drawn:
            pages.heading(drawn[name].title, size=9, keep=drawn[name].height)
            pages.figures([drawn[name]])


def _environment(pages: Pages, content: Content, drawn: dict[str, Drawing]) -> None:
    for name, value in content.environment:
        pages.row([(0.0, 1.9, name, True), (2.0, FULL - 2.0, value, False)])
    pages.heading("To repeat", size=9, keep=0.4)
    pages.text(f"{content.command}    with this as config.toml:", size=8, gap=0.04)
    pages.text(content.config.strip(), size=6.5, colour=MUTED)
    if content.left_out:
        pages.heading(f"{content.left_out_count:,} images left out", size=9, keep=0.4)
        for line in content.left_out[:SHOWN_LEFT_OUT]:
            pages.text(line, size=7)
        if content.left_out_count > SHOWN_LEFT_OUT:
            pages.text(f"and {content.left_out_count - SHOWN_LEFT_OUT:,} more.", size=7)


LAYOUTS: dict[str, Callable[[Pages, Content, dict[str, Drawing]], None]] = {
    "summary": _summary,
    "settings": _settings,
    "curves": _curves,
    "metrics": _metrics,
    "map": _map,
    "queries": _queries,
    "environment": _environment,
}


def _kept(section: str, drawn: dict[str, Drawing]) -> float:
    """Inches that stand on one page with the heading of a section."""
    first = {"curves": "ce-spce", "map": "map", "queries": "worst"}.get(section)
    return drawn[first].height + 0.5 if first in drawn else 0.8
