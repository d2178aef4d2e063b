"""Text, tables and drawings set from top to bottom on A4 pages with matplotlib: no browser, no Qt, no network."""

from collections.abc import Sequence
from functools import lru_cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from workbench.reports.blocks import Span, Style, Table
from workbench.reports.drawing import Drawing

WIDTH, HEIGHT = 8.27, 11.69  # inches, A4
LEFT, TOP, BOTTOM = 0.75, 0.75, 0.75
INSIDE = WIDTH - 2 * LEFT
LEADING = 1.36  # line height by letter height
GAP, BETWEEN = 0.14, 0.2  # inches between columns, and between drawings side by side
CAPTION = 7.5  # points
NARROWEST = 0.45  # inches of a column of text
MUTED, LINK = "#5A6372", "#0B62C4"


@lru_cache(maxsize=32)
def _font(style: str) -> FontProperties:
    return FontProperties(
        family="monospace" if style == "code" else "sans-serif", weight="bold" if style == "strong" else "normal",
        style="italic" if style == "em" else "normal",
    )  # fmt: skip


@lru_cache(maxsize=1 << 14)
def _em(words: str, style: str) -> float:
    """Width by letter height."""
    font = _font(style).copy()
    font.set_size(100)
    return float(text_to_path.get_text_width_height_descent(words, font, ismath=False)[0]) / 100


def width_of(words: str, size: float, style: str = "") -> float:
    """Inches that words take; `size` in points."""
    return _em(words, style) * size / 72


def lines_of(spans: Sequence[Span], size: float, width: float) -> list[list[Span]]:
    """Spans broken into lines that fit into so many inches; a word that does not fit is cut."""
    lines: list[list[Span]] = [[]]
    used = 0.0
    for span in spans:
        for piece in _pieces(span.text, size, span.style, width):
            wide = width_of(piece, size, span.style)
            if used + width_of(piece.rstrip(), size, span.style) > width and lines[-1]:
                lines.append([])
                used, piece = 0.0, piece.lstrip()
                wide = width_of(piece, size, span.style)
            if piece:
                last = lines[-1][-1] if lines[-1] else None
                if last is not None and (last.style, last.link) == (span.style, span.link):
                    lines[-1][-1] = Span(last.text + piece, span.style, span.link)
                else:
                    lines[-1].append(Span(piece, span.style, span.link))
                used += wide
    return lines


def _pieces(text: str, size: float, style: str, width: float) -> list[str]:
    """Words with the blank after them; those wider than a line are cut into parts."""
    pieces = []
    for word in text.replace("\n", " ").replace("\t", " ").split(" "):
        while width_of(word, size, style) > width and len(word) > 1:
            fits = max(1, int(len(word) * width / width_of(word, size, style)))
            while fits > 1 and width_of(word[:fits], size, style) > width:
                fits -= 1
            pieces.append(word[:fits])
            word = word[fits:]
        pieces.append(f"{word} ")
    if pieces:
        pieces[-1] = pieces[-1][:-1]
    return [piece for piece in pieces if piece]


class Pages:
    """Lines, tables and drawings placed from top to bottom; a new page when the next does not fit."""

    def __init__(self) -> None:
        self.done: list[Figure] = []
        self._page: Figure | None = None
        self._y = 0.0

    def text(
        self, spans: Sequence[Span], *, size: float = 9, colour: str = "black", gap: float = 0.0, indent: float = 0.0
    ) -> None:
        """A paragraph, `gap` inches below it."""
        for line in lines_of(spans, size, INSIDE - indent):
            self._need(size * LEADING / 72)
            self._line(line, LEFT + indent, size, colour)
            self._y += size * LEADING / 72
        self._y += gap

    def heading(self, spans: Sequence[Span], *, size: float = 13, keep: float = 1.0) -> None:
        """A heading, on one page with the next `keep` inches."""
        self._need(min(keep + 0.5, HEIGHT - TOP - BOTTOM))
        bold = [Span(span.text, "code" if span.style == "code" else "strong", span.link) for span in spans]
        self._y += 0.14 if size > 9 else 0.06
        self.text(bold, size=size, gap=0.05)

    def mark(self, words: str, *, indent: float, size: float = 9) -> None:
        """A bullet or number left of the next line, without moving down."""
        self._need(size * LEADING / 72)
        self._line([Span(words)], LEFT + indent, size, "black")

    def table(self, table: Table, *, size: float = CAPTION) -> None:
        """Rows below their header, which comes again on every page."""
        if table.foldable:
            self._folded(table, size)
            return
        widths = column_widths(table, size)
        head = [lines_of((Span(cell, "strong"),), size, width) for cell, width in zip(table.head, widths, strict=True)]
        rows = [
            [
                lines_of((Span(cell, "strong" if number in table.strong else ""),), size, width)
                for cell, width in zip(row, widths, strict=True)
            ]
            for number, row in enumerate(table.rows)
        ]
        self._need(_height(head, size) + sum(_height(row, size) for row in rows[:2]))
        self._row(head, widths, table, size)
        self._rule(sum(widths) + GAP * (len(widths) - 1))
        for row in rows:
            if self._need(_height(row, size)):
                self._row(head, widths, table, size)
                self._rule(sum(widths) + GAP * (len(widths) - 1))
            self._row(row, widths, table, size)
        self._y += 0.06

    def drawings(self, drawn: Sequence[tuple[Drawing, str]]) -> None:
        """A drawing with its caption, or two of them side by side, as lines and letters."""
        room = (INSIDE - BETWEEN * (len(drawn) - 1)) / len(drawn)
        sizes = []
        for drawing, _ in drawn:
            width = min(
                drawing.width * (1 if drawing.wide else 1.35), room, drawing.width / drawing.height * (HEIGHT - 3)
            )
            sizes.append((width, drawing.height * width / drawing.width))
        highest = max(height for _, height in sizes)
        captions = [lines_of([Span(words)], CAPTION, room) for _, words in drawn]
        lines = max(map(len, captions))
        self._need(min(highest + lines * CAPTION * LEADING / 72 + 0.2, HEIGHT - TOP - BOTTOM))
        assert self._page is not None
        top = self._y
        for index, ((drawing, _), (width, height), caption) in enumerate(zip(drawn, sizes, captions, strict=True)):
            left = LEFT + index * (room + BETWEEN)
            drawing.place(self._page, left, top, width)
            self._y = top + height + 0.04
            for line in caption:
                self._line(line, left, CAPTION, MUTED)
                self._y += CAPTION * LEADING / 72
        self._y = top + highest + 0.04 + lines * CAPTION * LEADING / 72 + 0.12

    def _folded(self, table: Table, size: float) -> None:
        """Two rows of the table on each line of the page, the second half on the right."""
        widths = [min(width, INSIDE / 2) for width in column_widths(table, size)]
        right = LEFT + max(sum(widths) + GAP * len(widths) + BETWEEN, INSIDE / 2)

        def cells(row: Sequence[str], style: Style) -> list[list[list[Span]]]:
            return [lines_of([Span(cell, style)], size, width) for cell, width in zip(row, widths, strict=True)]

        def head() -> None:
            titles = cells(table.head, "strong")
            self._row(titles, widths, table, size, right)
            self._y -= _height(titles, size)
            self._row(titles, widths, table, size)
            self._rule(INSIDE)

        self._need(6 * size * LEADING / 72)
        head()
        for row in range(table.half):
            pair = [row] if row + table.half >= len(table.rows) else [row, row + table.half]
            halves = [cells(table.rows[number], "strong" if number in table.strong else "") for number in pair]
            heights = [_height(half, size) for half in halves]
            if self._need(max(heights)):
                head()
            for half, left, height in zip(halves, (LEFT, right), heights, strict=False):
                self._row(half, widths, table, size, left)
                self._y -= height
            self._y += max(heights)
        self._y += 0.06

    def _row(
        self, cells: list[list[list[Span]]], widths: list[float], table: Table, size: float, left: float = LEFT
    ) -> None:
        top = self._y
        for column, (lines, width) in enumerate(zip(cells, widths, strict=True)):
            for number, line in enumerate(lines):
                self._y = top + number * size * LEADING / 72
                taken = sum(width_of(span.text, size, span.style) for span in line)
                self._line(line, left + (width - taken if column in table.numbers else 0), size, "black")
            left += width + GAP
        self._y = top + _height(cells, size)

    def _rule(self, width: float) -> None:
        assert self._page is not None
        y = 1 - self._y / HEIGHT
        line = Line2D([LEFT / WIDTH, (LEFT + width) / WIDTH], [y, y], color="#A3ACBA", linewidth=0.6)
        self._page.add_artist(line)
        self._y += 0.02

    def _line(self, spans: list[Span], x: float, size: float, colour: str) -> None:
        assert self._page is not None
        baseline = 1 - (self._y + size * 1.05 / 72) / HEIGHT
        for span in spans:
            self._page.text(
                x / WIDTH, baseline, span.text, fontproperties=_font(span.style), fontsize=size, va="baseline",
                color=LINK if span.link else colour, url=span.link or None,
            )  # fmt: skip
            x += width_of(span.text, size, span.style)

    def _need(self, height: float) -> bool:
        """Start a new page if so many inches do not fit; returns whether it did."""
        if self._page is not None and self._y + height <= HEIGHT - BOTTOM:
            return False
        fresh = Figure(figsize=(WIDTH, HEIGHT))
        fresh.set_layout_engine("none")
        self._page = fresh
        self.done.append(fresh)
        fresh.text(0.5, 0.4 / HEIGHT, str(len(self.done)), fontsize=8, ha="center", color=MUTED)
        self._y = TOP
        return len(self.done) > 1


def column_widths(table: Table, size: float) -> list[float]:
    """Inches of each column: what its widest cell takes, if there is room."""
    natural = [
        max(
            width_of(table.head[column], size, "strong"),
            *(width_of(row[column], size, "strong" if at in table.strong else "") for at, row in enumerate(table.rows)),
            NARROWEST / 2,
        )
        + 0.01
        for column in range(len(table.head))
    ]
    return fitted(natural, INSIDE - GAP * (len(natural) - 1))


def fitted(natural: Sequence[float], room: float) -> list[float]:
    """Widths that fit into the room: where that is too little the widest give way, alike."""
    if sum(natural) <= room:
        return list(natural)
    low, high = 0.0, max(natural)
    for _ in range(40):  # the width over which columns are cut
        most = (low + high) / 2
        low, high = (most, high) if sum(min(width, most) for width in natural) <= room else (low, most)
    return [min(width, low) for width in natural]


def _height(cells: list[list[list[Span]]], size: float) -> float:
    return max(len(lines) for lines in cells) * size * LEADING / 72 + 0.035
