"""The report as a PDF of A4 pages, laid out with matplotlib: no browser, no Qt, no network."""

from io import BytesIO
from textwrap import wrap

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from workbench.problem import Problem
from workbench.reports import figures
from workbench.reports.content import Content, percent, points
from workbench.reports.figures import STYLE
from workbench.reports.sections import SECTIONS

WIDTH, HEIGHT = 8.27, 11.69  # inches, A4
LEFT, TOP, BOTTOM = 0.75, 0.75, 0.75
LINE = 0.17  # inches
MOST_LETTERS = 104  # a line
DPI = 200


class Pages:
    """Lines, tables and figures placed from top to bottom; a new page when the next does not fit."""

    def __init__(self, dpi: int) -> None:
        self._dpi = dpi
        self.done: list[Figure] = []
        self._page: Figure | None = None
        self._y = 0.0

    def text(self, words: str, *, size: float = 9, bold: bool = False, colour: str = "black", gap: float = 0.0) -> None:
        for line in wrap(words, int(MOST_LETTERS * 9 / size)) or [""]:
            self._need(LINE * size / 9)
            weight = "bold" if bold else "normal"
            self._put(LEFT, line, size, weight, colour)
            self._y += LINE * size / 9
        self._y += gap

    def heading(self, words: str, *, size: float = 13, keep: float = 1.0) -> None:
        """A heading, on one page with the next `keep` inches."""
        self._need(keep + 0.4)
        self._y += 0.12 if size > 9 else 0.0
        self.text(words, size=size, bold=True, gap=0.06 if size > 9 else 0.0)

    def row(self, cells: list[tuple[float, str, bool]]) -> None:
        """Cells as (inches from the left, text, bold) on one line."""
        self._need(LINE)
        for x, words, bold in cells:
            self._put(LEFT + x, words, 8, "bold" if bold else "normal", "black")
        self._y += LINE

    def figure(self, drawn: Figure, width: float | None = None) -> None:
        wide, high = drawn.get_size_inches()
        scale = (width or wide) / wide
        self._need(high * scale + 0.1)
        assert self._page is not None
        axes = self._page.add_axes(
            (LEFT / WIDTH, 1 - (self._y + high * scale) / HEIGHT, wide * scale / WIDTH, high * scale / HEIGHT)
        )
        axes.set_axis_off()
        axes.imshow(figures.raster(drawn, self._dpi * 1.4), aspect="auto", interpolation="antialiased")
        self._y += high * scale + 0.1

    def _put(self, x: float, words: str, size: float, weight: str, colour: str) -> None:
        assert self._page is not None
        self._page.text(
            x / WIDTH, 1 - (self._y + LINE * 0.8) / HEIGHT, words, fontsize=size, fontweight=weight, color=colour
        )

    def _need(self, height: float) -> None:
        if self._page is None or self._y + height > HEIGHT - BOTTOM:
            self._page = Figure(figsize=(WIDTH, HEIGHT))
            self._page.set_layout_engine("none")
            self.done.append(self._page)
            self._page.text(0.5, 0.4 / HEIGHT, str(len(self.done)), fontsize=8, ha="center", color="#5A6372")
            self._y = TOP


def lay_out(content: Content, drawn: dict[str, Figure], dpi: int = DPI) -> list[Figure]:
    """The report's pages as A4 figures, for the PDF and for the preview."""
    with rc_context(STYLE):
        pages = Pages(dpi)
        pages.text(content.title, size=18, bold=True, gap=0.05)
        pages.text(f"Workbench report of run {content.run.id}, {content.run.created}", colour="#5A6372", gap=0.1)
        if content.notes:
            pages.text(content.notes, gap=0.1)
        for section in content.sections:
            pages.heading(SECTIONS[section], keep=_kept(section, drawn))
            _section(pages, section, content, drawn)
        return pages.done


def encode(content: Content, drawn: dict[str, Figure]) -> bytes:
    """The PDF. Raises Problem when what was written is not whole."""
    out = BytesIO()
    facts = {"Title": content.title, "Creator": "Workbench", "CreationDate": None}
    with rc_context(STYLE), PdfPages(out, metadata=facts) as book:
        for page in lay_out(content, drawn):
            book.savefig(page, dpi=DPI)
    data = out.getvalue()
    if not data.startswith(b"%PDF-") or b"%%EOF" not in data[-32:]:
        raise Problem("The PDF could not be made whole.", kept="No file was changed.", todo="Try again.")
    return data


def preview(content: Content, drawn: dict[str, Figure], dpi: int) -> list[bytes]:
    """Every page as PNG."""
    found = []
    with rc_context(STYLE):
        for page in lay_out(content, drawn, dpi):
            FigureCanvasAgg(page)
            out = BytesIO()
            page.savefig(out, format="png", dpi=dpi)
            found.append(out.getvalue())
    return found


def _section(pages: Pages, section: str, content: Content, drawn: dict[str, Figure]) -> None:
    match section:
        case "summary":
            for sentence in content.summary:
                pages.text(sentence, gap=0.03)
        case "settings":
            pages.text("Bold: differs from the default.", size=8, colour="#5A6372")
            half = (len(content.settings) + 1) // 2
            for row in range(half):
                cells: list[tuple[float, str, bool]] = []
                for column, place in enumerate((row, row + half)):
                    if place < len(content.settings):
                        each = content.settings[place]
                        cells += [
                            (column * 3.5, f"{each.section} {each.name.replace('_', ' ')}", each.changed),
                            (column * 3.5 + 2.2, _cut(each.value, 20), each.changed),
                        ]
                pages.row(cells)
        case "curves":
            for name in ("ce-spce", "retrieval", "loss"):
                if name in drawn:
                    pages.figure(drawn[name], 4.4)
        case "metrics" if content.best and content.last:
            pages.row(
                [(0, "Metric", True), (1.6, f"Best (epoch {content.best.epoch})", True), (3.0, "95% interval", True),
                 (4.8, f"Last (epoch {content.last.epoch})", True)]
            )  # fmt: skip
            for metric in content.metrics:
                interval = f"{percent(metric.low)} to {percent(metric.high)}" if metric.low == metric.low else "–"
                cells_of = ((0, metric.name), (1.6, percent(metric.best)), (3.0, interval), (4.8, percent(metric.last)))
                pages.row([(x, words, False) for x, words in cells_of])
            pages.text("Intervals are over queries of one run, not over seeds.", size=8, colour="#5A6372")
        case "classes" if content.classes:
            _classes(pages, content)
        case "published":
            _published(pages, content)
        case "map" if "map" in drawn:
            pages.figure(drawn["map"], 6.8)
        case "queries" if "worst" in drawn:
            pages.text("Lowest average precision", bold=True)
            pages.figure(drawn["worst"], 6.8)
            pages.heading("Highest average precision", size=9, keep=_height(drawn["best"], 6.8))
            pages.figure(drawn["best"], 6.8)
        case "environment":
            for name, value in content.environment:
                pages.row([(0, name, True), (2.0, _cut(value, 80), False)])
            pages.text(f"To repeat: {content.command}", size=8)
        case _:
            pages.text("There is no evaluation yet.", colour="#5A6372")


def _classes(pages: Pages, content: Content) -> None:
    titles = ("Lowest MAP@R", "Highest MAP@R")
    pages.row([cell for half, title in enumerate(titles) for cell in _class_cells(half, title, "MAP@R", "R@1", True)])
    low, high = content.classes[:10], content.classes[::-1][:10]
    for pair in zip(low, high, strict=True):
        pages.row([
            cell for half, row in enumerate(pair)
            for cell in _class_cells(half, row.name, percent(row.map_at_r), percent(row.recall_at_1), False)
        ])  # fmt: skip
    pages.text(f"{len(content.classes):,} classes in all; classes.csv holds every one.", size=8, colour="#5A6372")


def _class_cells(half: int, name: str, first: str, second: str, bold: bool) -> list[tuple[float, str, bool]]:
    left = 3.5 * half
    return [(left, _cut(name, 26), bold), (left + 1.9, first, bold), (left + 2.6, second, bold)]


def _published(pages: Pages, content: Content) -> None:
    if not content.published:
        pages.text("None of the papers' tables has this data set under this protocol.", colour="#5A6372")
    for each in content.published:
        pages.heading(each.table.title, size=9)
        pages.text(f"{each.table.paper}, {each.table.source}", size=8, colour="#5A6372")
        names = each.table.metrics
        pages.row([(0, "Method", True), (2.1, "Backbone", True), *_columns([f"{name} %" for name in names], bold=True)])
        for row in each.table.rows:
            cells = _columns([points(value) for value in row.values])
            pages.row([(0, _cut(row.method, 34), False), (2.1, _cut(row.backbone, 16), False), *cells])
        own = _columns([points(value) for value in each.own], bold=True)
        pages.row([(0, f"This run ({content.run.loss})", True), (2.1, _cut(content.run.backbone, 16), True), *own])
        for sentence in each.differences:
            pages.text(sentence, size=8, colour="#5A6372")


def _columns(words: list[str], *, bold: bool = False) -> list[tuple[float, str, bool]]:
    return [(3.3 + 0.62 * place, word, bold) for place, word in enumerate(words)]


def _kept(section: str, drawn: dict[str, Figure]) -> float:
    """Inches that stand on one page with the heading of a section."""
    first = {"curves": ("ce-spce", 4.4), "map": ("map", 6.8), "queries": ("worst", 6.8)}.get(section)
    return _height(drawn[first[0]], first[1]) + 0.2 if first and first[0] in drawn else 1.0


def _height(drawn: Figure, width: float) -> float:
    wide, high = drawn.get_size_inches()
    return float(high * width / wide) + 0.1


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
