"""A document as a PDF, and as pictures of its pages. Plots are lines and letters, not pictures."""

from dataclasses import dataclass

from workbench.reports.formats.typesetting import typeset
from workbench.reports.writing.blocks import Document

MOST_SHOWN = 40  # pages of a preview


@dataclass(frozen=True, slots=True)
class Preview:
    """The first pages as PNG, how many there are in all, and the page on which each section begins, by its key."""

    pictures: list[bytes]
    pages: int
    sections: dict[str, int]


def encode(document: Document, paper: str = "a4") -> bytes:
    """The PDF on paper of PAPERS. Raises Problem when it cannot be set whole."""
    with typeset(document, paper) as report:
        return report.pdf()


def preview(document: Document, dpi: int, paper: str = "a4") -> Preview:
    """The pages as the PDF has them. Raises Problem as `encode`."""
    with typeset(document, paper, dpi) as report:
        return Preview(report.pictures(dpi)[:MOST_SHOWN], report.pages, report.sections)
