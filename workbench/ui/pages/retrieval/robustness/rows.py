"""The strengths of a measurement as rows of a table."""

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QPixmap

from workbench.results.stored import difference_words
from workbench.robustness.table import UNCHANGED, sure
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.robustness.plot import dot
from workbench.ui.style import theme
from workbench.ui.style.words import NO_VALUE

TITLES = ("Change", "Strength", "MAP@R %", "Δ points", "R@1 %", "Δ points")


@dataclass(frozen=True, slots=True)
class Row:
    """One strength in the table; percent and points."""

    name: str  # of the change; empty for the unchanged queries
    title: str
    level: int  # from 1; 0 for the unchanged queries
    words: str
    quality: float
    recall: float
    less: tuple[float, bool] | None  # of MAP@R, and whether it is sure; None for the unchanged queries
    less_recall: tuple[float, bool] | None


class StrengthRows(SortedRows):
    """The rows as a table: each with the dot of its line."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, _cells, _written, parent, picture=_dot)


def rows_of(measured: dict[str, Any]) -> list[Row]:
    """The unchanged queries, then each strength of each change."""
    at = measured["unchanged"]["metrics"]
    rows = [Row("", UNCHANGED.capitalize(), 0, "", 100 * at["MAP@R"], 100 * at["recall@1"], None, None)]
    for change in measured["changes"]:
        for number, level in enumerate(change["levels"], start=1):
            at, less = level["metrics"], level["difference"]
            rows.append(
                Row(change["name"], change["title"], number, level["words"], 100 * at["MAP@R"], 100 * at["recall@1"],
                    *((100 * less[name][0], sure(less[name])) for name in ("MAP@R", "recall@1")))
            )  # fmt: skip
    return rows


def _dot(row: Row) -> QPixmap | None:
    return dot(row.name, theme.current()) if row.name else None


def _cells(row: Row) -> tuple[Any, ...]:
    """The values by column; a strength sorts by its level, a missing difference as none."""
    return (
        row.title, (row.level, row.words), row.quality, row.less or (0.0, None), row.recall,
        row.less_recall or (0.0, None),
    )  # fmt: skip


def _written(column: int, value: Any) -> str:
    if isinstance(value, str):
        return value
    if column == 1:
        return str(value[1])
    if isinstance(value, tuple):
        return NO_VALUE if value[1] is None else difference_words(*value)
    return f"{value:.1f}"
