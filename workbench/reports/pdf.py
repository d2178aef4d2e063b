"""A document as a PDF of A4 pages, and as pictures of them. Plots are lines and letters, not pictures."""

from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from workbench.problem import Problem
from workbench.reports.blocks import Block, Bullets, Cards, Code, Document, Heading, Paragraph, Plot, Span, Table
from workbench.reports.drawing import styled
from workbench.reports.pages import CAPTION, INSIDE, MUTED, Pages

MOST_SHOWN = 16  # pages of a preview: each takes a fifth of a second or more
DPI = 300  # of what is a picture: images of queries, maps of very many points
SIZES = {1: 10.5, 2: 9.5, 3: 9.0}
INDENT = 0.22  # inches of a list


def lay_out(document: Document) -> list[Figure]:
    """The report's pages as A4 figures, for the PDF and for the preview."""
    with styled():
        pages = Pages()
        pages.text([Span(document.title, "strong")], size=18, gap=0.05)
        pages.text([Span(document.subtitle)], colour=MUTED, gap=0.1)
        for section in document.sections:
            pages.heading([Span(section.title)], keep=_kept(section.blocks, document))
            for part in _beside(section.blocks, document):
                if isinstance(part[0], Plot):
                    plots = [plot for plot in part if isinstance(plot, Plot)]
                    pages.drawings([(document.drawings[plot.name], plot.caption) for plot in plots])
                else:
                    _set(pages, part[0], document)
        return pages.done


def encode(document: Document) -> bytes:
    """The PDF. Raises Problem when what was written is not whole."""
    out = BytesIO()
    facts = {"Title": document.title, "Creator": "Workbench", "CreationDate": None}
    with styled(), PdfPages(out, metadata=facts) as book:
        for page in lay_out(document):
            book.savefig(page, dpi=DPI)
    data = out.getvalue()
    if not data.startswith(b"%PDF-") or b"%%EOF" not in data[-32:]:
        raise Problem("The PDF could not be made whole.", kept="No file was changed.", todo="Try again.")
    return data


def preview(document: Document, dpi: int) -> tuple[list[bytes], int]:
    """The first pages as PNG, and how many there are in all."""
    pictures = []
    with styled():
        pages = lay_out(document)
        for page in pages[:MOST_SHOWN]:
            FigureCanvasAgg(page)
            out = BytesIO()
            page.savefig(out, format="png", dpi=dpi)
            pictures.append(out.getvalue())
    return pictures, len(pages)


def _set(pages: Pages, block: Block, document: Document, indent: float = 0.0) -> None:
    match block:
        case Heading():
            pages.heading(block.spans, size=SIZES[block.level])
        case Paragraph():
            size, colour = (8.0, MUTED) if block.muted else (9.0, "black")
            pages.text(block.spans, size=size, colour=colour, gap=0.05, indent=indent)
        case Code():
            for line in block.text.split("\n"):
                pages.text([Span(line.replace(" ", "\u00a0"), "code")], size=8, indent=indent + 0.1)
            pages.text([], size=4)
        case Bullets():
            for number, item in enumerate(block.items, start=block.first):
                pages.mark(f"{number}." if block.ordered else "•", indent=indent + 0.05)
                for part in item or (Paragraph((Span(""),)),):
                    _set(pages, part, document, indent + INDENT)
        case Table():
            pages.table(block)
            if block.caption:
                pages.text([Span(block.caption)], size=CAPTION, colour=MUTED, gap=0.1)
        case Cards():
            pages.heading([Span(block.title)], size=SIZES[3], keep=_height(block.name, document))
            pages.drawings([(document.drawings[block.name], "")])


def _beside(blocks: tuple[Block, ...], document: Document) -> list[list[Block]]:
    """Blocks one by one, but two narrow plots together."""
    parts: list[list[Block]] = []
    for block in blocks:
        before = parts[-1] if parts else []
        if len(before) == 1 and _narrow(before[0], document) and _narrow(block, document):
            before.append(block)
        else:
            parts.append([block])
    return parts


def _narrow(block: Block, document: Document) -> bool:
    return isinstance(block, Plot) and not document.drawings[block.name].wide


def _kept(blocks: tuple[Block, ...], document: Document) -> float:
    """Inches that stay on one page with the heading of a section."""
    first = blocks[0]
    return _height(first.name, document) + 0.5 if isinstance(first, Plot | Cards) else 0.8


def _height(name: str, document: Document) -> float:
    drawn = document.drawings[name]
    return drawn.height * min(1.35 if not drawn.wide else 1.0, INSIDE / drawn.width)
