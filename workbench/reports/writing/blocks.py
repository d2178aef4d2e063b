"""A report as plain data, which every format draws: sections of headings, paragraphs, lists, tables, plots, cards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from workbench.names import visible
from workbench.numerals import minus
from workbench.reports.content.run_content import QueryCard
from workbench.reports.figures.drawing import Drawing

Style = Literal["", "strong", "em", "code"]
NO_VALUE = "–"
LONG, NARROW = 24, 58  # rows and letters


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; `link` is an address that is safe to follow, or empty."""

    text: str
    style: Style = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below that of its section; `level` is 1, 2 or 3."""

    level: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; `muted` sets it in grey, as for remarks."""

    spans: tuple[Span, ...]
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; an item is its blocks."""

    items: tuple[tuple["Block", ...], ...]
    ordered: bool = False
    first: int = 1  # number of the first item of an ordered list


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that keep their spaces."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text, each `visible`. `numbers` are the columns set to the right, with a sign of minus; `strong` the rows
    in bold."""

    key: str  # names the table in LaTeX; unique in a document
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    strong: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        rows = (
            tuple(minus(cell) if column in self.numbers else visible(cell) for column, cell in enumerate(row))
            for row in self.rows
        )
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "head", tuple(map(visible, self.head)))

    @property
    def foldable(self) -> bool:
        """Whether it is so long and narrow that two halves fit better side by side."""
        letters = sum(max(map(len, column)) for column in zip(self.head, *self.rows, strict=True))
        return len(self.rows) > LONG and len(self.head) <= 3 and letters <= NARROW

    @property
    def half(self) -> int:
        """Rows of the first half."""
        return (len(self.rows) + 1) // 2


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing of the document by name."""

    name: str
    caption: str


@dataclass(frozen=True, slots=True, eq=False)
class Cards:
    """Queries with their neighbours as images; `name` is the drawing that shows the same on paper."""

    name: str
    title: str
    cards: tuple[QueryCard, ...]


Block = Heading | Paragraph | Bullets | Code | Table | Plot | Cards


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the report: its key in SECTIONS, its title and its blocks in order."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One number of the headline: what it is, the number with its unit, and a few words below it."""

    title: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """The whole report in order, with its drawings; pages and HTML have `tiles` below their title."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    drawings: Mapping[str, Drawing] = field(default_factory=dict)
    tiles: tuple[Tile, ...] = ()


def said(words: str, *, muted: bool = False) -> Paragraph:
    """One plain sentence or more; what turns their direction, in a name from elsewhere, is shown."""
    return Paragraph((Span(visible(words)),), muted)


def heading(words: str) -> Heading:
    """A heading of plain words."""
    return Heading(1, (Span(visible(words)),))
