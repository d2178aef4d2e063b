"""A document set on pages by typst, from resources/templates/report.typ: no network, no file outside its folder.

The template is fixed. The content of a report is in strings of a JSON file, which typst shows and never executes.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import typst

from workbench.files import explain
from workbench.files.resources import resources
from workbench.files.temporary import temporary_folder
from workbench.problem import Problem
from workbench.reports.content.run_content import QueryCard, percent
from workbench.reports.figures.drawing import FULL
from workbench.reports.formats.line_breaks import breakable
from workbench.reports.formats.thumbnails import thumbnail
from workbench.reports.sections import PAPERS
from workbench.reports.writing.blocks import (
    Block,
    Bullets,
    Cards,
    Code,
    Document,
    Heading,
    Paragraph,
    Plot,
    Span,
    Table,
)

SHORT_TITLE = 90  # letters in the running head
SHORT_CLASS = 17  # letters of a class below an image
LONGEST_LINK = 2000
LINE, BETWEEN, LEAST = 105, 2, 12  # letters of a table in a line of text, between two columns, of a column at least
TIGHTER = ({"small_figures": "yes"}, {"tight": "yes"}, {"tight": "yes", "small_figures": "yes"})  # by preference
FONTS = "DejaVuSans*.ttf"  # matplotlib brings them; figures are measured in them


@dataclass(frozen=True, slots=True)
class TypesetReport:
    """A report on its pages. `sections` has the first page of each by its key; pages count from 1."""

    compiler: typst.Compiler
    pages: int
    sections: dict[str, int]

    def pdf(self) -> bytes:
        """The file. Raises Problem when it is incomplete."""
        data = self.compiler.compile(format="pdf")
        if not isinstance(data, bytes) or not data.startswith(b"%PDF-"):
            raise Problem("The PDF could not be completed.", kept="No file was changed.", todo="Try again.")
        return data

    def pictures(self, dpi: int) -> list[bytes]:
        """Every page as PNG."""
        drawn = self.compiler.compile(format="png", ppi=dpi)
        return drawn if isinstance(drawn, list) else [drawn or b""]


@contextmanager
def typeset(document: Document, paper: str = "a4", dpi: int = 0) -> Iterator[TypesetReport]:
    """Set the document on pages; what it yields is good inside the block only.

    Args:
        paper: of PAPERS.
        dpi: of the pictures that will be drawn: figures then cover whole pixels, because typst does not interpolate
            them and would lose a column or row of pixels. 0 for a PDF.

    Raises:
        Problem: typst could not set it, or the disk of temporary files is full.
    """
    with temporary_folder("workbench-report") as root:
        try:
            _Writer(root, document).write(paper)
        except OSError as error:
            raise explain(error, root) from error
        try:
            yield _fitted(root, str(dpi))
        except RuntimeError as error:  # typst's own; those of a query have no class
            raise Problem(
                f"The pages could not be set: {error}.", kept="No file was changed.", todo="Write HTML instead."
            ) from error


def _fitted(root: Path, dpi: str) -> TypesetReport:
    """The document, set tighter or with smaller figures if that saves a page."""
    reports = [_laid_out(root, dpi=dpi)]
    if reports[0].pages > 1:
        reports += [_laid_out(root, dpi=dpi, **change) for change in TIGHTER]
    return min(reports, key=lambda report: report.pages)


def _laid_out(root: Path, *, dpi: str, tight: str = "no", small_figures: str = "no") -> TypesetReport:
    compiler = typst.Compiler(
        root / "report.typ", root=root, font_paths=[root / "fonts"], package_path=root / "packages",
        package_cache_path=root / "packages",
        sys_inputs={"tight": tight, "small-figures": small_figures, "dpi": dpi},
    )  # fmt: skip
    pages = json.loads(compiler.query("<end>", field="value", one=True))
    sections = json.loads(compiler.query("<sections>", field="value", one=True))
    return TypesetReport(compiler, pages, dict(sections))


class _Writer:
    """Writes the folder that typst reads: template, fonts, report.json, figures and images."""

    def __init__(self, root: Path, document: Document) -> None:
        self._root, self._document = root, document
        self._images = 0

    def write(self, paper: str) -> None:
        title = " ".join(_plain(self._document.title).split())
        report = {
            "paper": PAPERS[paper],
            "title": _breakable(title),
            "short": title if len(title) <= SHORT_TITLE else f"{title[: SHORT_TITLE - 1]}…",
            "subtitle": _breakable(self._document.subtitle),
            "tiles": [
                {"title": _breakable(tile.title), "value": _breakable(tile.value), "note": _breakable(tile.note)}
                for tile in self._document.tiles
            ],
            "sections": [
                {"key": section.key, "title": _breakable(section.title), "blocks": self._blocks(section.blocks)}
                for section in self._document.sections
            ],
        }
        (self._root / "report.json").write_text(json.dumps(report), "utf-8")
        shutil.copyfile(resources() / "templates" / "report.typ", self._root / "report.typ")
        (self._root / "fonts").mkdir()
        for font in (Path(matplotlib.get_data_path()) / "fonts" / "ttf").glob(FONTS):
            shutil.copyfile(font, self._root / "fonts" / font.name)

    def _blocks(self, blocks: Sequence[Block]) -> list[dict[str, Any]]:
        """Blocks one by one, but two narrow plots beside each other."""
        written: list[dict[str, Any]] = []
        pair: list[Plot] = []
        for block in (*blocks, None):
            narrow = isinstance(block, Plot) and not self._document.drawings[block.name].wide
            if pair and (not narrow or len(pair) == 2):
                written.append(self._plots(pair))
                pair = []
            if narrow and isinstance(block, Plot):
                pair.append(block)
            elif block is not None:
                written.append(self._block(block))
        return written

    def _block(self, block: Block) -> dict[str, Any]:
        match block:
            case Heading():
                return {"kind": "heading", "level": block.level, "spans": _spans(block.spans)}
            case Paragraph():
                return {"kind": "paragraph", "muted": block.muted, "spans": _spans(block.spans)}
            case Code():
                return {"kind": "code", "text": "\n".join(map(_plain, block.text.split("\n")))}
            case Bullets():
                items = [self._blocks(item) for item in block.items]
                return {"kind": "bullets", "ordered": block.ordered, "first": block.first, "items": items}
            case Table():
                return _table_fields(block)
            case Plot():
                return self._plots([block])
            case Cards():
                cards = [self._card(card) for card in block.cards]
                columns = max(len(card.neighbours) for card in block.cards)
                return {"kind": "cards", "title": _plain(block.title), "columns": columns, "cards": cards}

    def _plots(self, plots: Sequence[Plot]) -> dict[str, Any]:
        return {"kind": "plots", "plots": [self._plot(plot, alone=len(plots) == 1) for plot in plots]}

    def _plot(self, plot: Plot, *, alone: bool) -> dict[str, str]:
        drawing = self._document.drawings[plot.name]
        if alone and not drawing.wide:
            drawing = drawing.resized(FULL, drawing.height)
        name = f"figure-{plot.name}.svg"
        (self._root / name).write_bytes(drawing.encode("svg"))
        return {"file": name, "caption": _breakable(plot.caption)}

    def _card(self, card: QueryCard) -> dict[str, Any]:
        query = self._image(card.image, f"AP {percent(card.query.ap)}", card.query.class_name)
        near = [
            {
                **self._image(image, f"{'✓' if neighbour.right else '✗'} {neighbour.similarity_words}",
                              neighbour.class_name),
                "right": neighbour.right,
            }
            for neighbour, image in card.neighbours
        ]  # fmt: skip
        return {"query": query, "neighbours": near}

    def _image(self, image: Any, words: str, class_name: str) -> dict[str, Any]:
        name, scaling = "", "smooth"
        if image is not None:
            data, kind = thumbnail(image)
            self._images += 1
            name, scaling = f"image-{self._images}.{kind}", "pixelated" if kind == "png" else "smooth"
            (self._root / name).write_bytes(data)
        return {"file": name, "scaling": scaling, "words": [words, _short(_plain(class_name))]}


def _table_fields(table: Table) -> dict[str, Any]:
    """A table as the template reads it: `widths` says which columns take the room that is left, if there is some."""
    head, rows, numbers, strong = table.head, table.rows, table.numbers, table.strong
    texts = [column for column in range(len(head)) if column not in numbers]
    stretched = len(head) - 1 if len(head) - 1 in texts else min(texts, default=0)
    letters = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    others = sum(letters) - letters[stretched] + BETWEEN * len(head)
    room = LINE - others >= min(letters[stretched], LEAST)  # else it would have no width: all columns share the line
    wide = [room and column == stretched for column in range(len(head))]
    if table.foldable:
        width, half = len(head), table.half
        empty = ("",) * width
        rows = tuple((*rows[row], *(rows[row + half] if row + half < len(rows) else empty)) for row in range(half))
        head, numbers = (*head, *head), numbers | {column + width for column in numbers}
        strong = frozenset(row % half for row in strong if row < half and row + half in strong)
        wide = wide * 2
    return {
        "kind": "table",
        "caption": _breakable(table.caption),
        "head": [_breakable(cell) for cell in head],
        "rows": [[_breakable(cell) for cell in row] for row in rows],
        "numbers": sorted(numbers),
        "strong": sorted(strong),
        "widths": wide,
    }


def _spans(spans: Sequence[Span]) -> list[dict[str, str]]:
    return [
        {
            "text": _breakable(span.text),
            "style": span.style,
            "link": span.link if len(span.link) <= LONGEST_LINK else "",
        }
        for span in spans
    ]


def _plain(text: str) -> str:
    """Text without letters that steer: each becomes a blank."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _breakable(text: str) -> str:
    """Text whose long words may end a line, without a hyphen."""
    return breakable(_plain(text))


def _short(name: str) -> str:
    last = name.rpartition("/")[2] if len(name) > SHORT_CLASS else name
    return last if len(last) <= SHORT_CLASS else f"{last[: SHORT_CLASS - 1]}…"
