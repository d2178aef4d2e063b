"""Where each field of the Essentials card stands: choices and places are wide, numbers are four in a line."""

from dataclasses import replace

from workbench.ui.pages.setup.model.fields import Field
from workbench.ui.widgets.form import Cell

WHOLE, HALF, QUARTER, REST = (
    Cell(spans) for spans in ((12, 12, 12, 12), (6, 6, 12, 12), (3, 4, 6, 12), (9, 12, 12, 12))
)
CELLS = {
    "dataset.name": WHOLE,
    "split.name": replace(HALF, begins=True),
    "loss.name": WHOLE,  # with its formula
    "embedding.dim": replace(QUARTER, begins=True),
    "name": REST,
}
MUCH, ENOUGH, LITTLE = 510, 390, 240  # px of the card at 100% text: from there on four, three, two share a line


def room(width: float) -> int:
    """Which spans of a cell fit into a card of that width, px at 100% text."""
    return next((place for place, least in enumerate((MUCH, ENOUGH, LITTLE)) if width >= least), 3)


def cell_of(path: str, field: Field) -> Cell:
    """The cell of a field, by its path or by what it holds."""
    if path in CELLS or field.get("path"):
        return CELLS.get(path, WHOLE)
    return HALF if "enum" in field or field["type"] == "string" else QUARTER
