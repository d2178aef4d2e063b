"""Where each field of the Essentials card stands: choices and places are wide, numbers are four in a line."""

from dataclasses import replace

from workbench.ui.pages.setup.fields import Field
from workbench.ui.widgets.form import Cell

WHOLE, HALF, QUARTER, REST = Cell((12, 12, 12)), Cell((6, 6, 12)), Cell((3, 4, 6)), Cell((9, 12, 12))
CELLS = {
    "dataset.name": WHOLE,
    "split.name": replace(HALF, begins=True),
    "loss.name": WHOLE,  # with its formula
    "embedding.dim": replace(QUARTER, begins=True),
    "name": REST,
}
MUCH, ENOUGH = 510, 390  # px of the card at 100% text, from which on four or three numbers stand in a line


def room(width: float) -> int:
    """Which spans of a cell fit into a card of that width, px at 100% text."""
    return 0 if width >= MUCH else 1 if width >= ENOUGH else 2


def cell_of(path: str, field: Field) -> Cell:
    """The cell of a field, by its path or by what it holds."""
    if path in CELLS or field.get("path"):
        return CELLS.get(path, WHOLE)
    return HALF if "enum" in field or field["type"] == "string" else QUARTER
