"""The stores of a measurement as rows of a table, for the chosen size of the gallery."""

from dataclasses import dataclass
from math import log
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QPixmap

from workbench.results.stored import difference_words
from workbench.ui.models.sorted_rows import Index, SortedRows
from workbench.ui.pages.retrieval.deployment.plots import dot
from workbench.ui.style import theme
from workbench.ui.style.words import NO_VALUE
from workbench.ui.widgets.labels import plain_tip

MILLION = 1_000_000
TIPS = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole)
MS = 3  # the column of milliseconds
SCALED = {
    "linear": "scaled to {gallery:,} images by their number", "log": "scaled to {gallery:,} images by their logarithm",
}  # fmt: skip
STORE_TITLES = ("Store or search", "Bytes", "MB", "ms", "MAP@R %", "Δ points", "R@1 %", "10 kept %", "In words")


@dataclass(frozen=True, slots=True)
class Row:
    """One store in the table, its time scaled to the wanted gallery. Percent."""

    name: str
    title: str
    bytes: float
    megabytes: float
    ms: float
    quality: float
    less: float
    sure: bool  # that the difference is one
    recall: float
    kept: float
    is_baseline: bool = False  # which the others are compared with
    detail: str = ""  # how it is stored and searched
    timed: str = ""  # how its milliseconds were found


class StoreRows(SortedRows):
    """The rows as a table: each with the dot that its points have, and with its words as a tooltip."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(STORE_TITLES, store_cells, written_store, parent, picture=_dot)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows in a role; the words, which a narrow column cuts, also as a tooltip of the row."""
        if role in TIPS and index.isValid():
            row = self.rows[index.row()]
            return plain_tip(row.timed if index.column() == MS and row.timed else row.detail) or None
        return super().data(index, role)


def _dot(row: Row) -> QPixmap:
    return dot(row.name, row.is_baseline, theme.current())


def rows_of(measured: dict[str, Any], gallery: int) -> list[Row]:
    """The measured stores at another size of the gallery: the time of a scan grows with it, that of a graph by its log.

    The time of re-ranking a fixed number of images is not scaled.
    """
    factors = {"linear": gallery / measured["gallery"], "log": log(gallery) / log(max(2, measured["gallery"]))}
    return [
        Row(
            store["name"], store["title"], store["bytes"],
            (store["bytes"] * gallery + store["fixed_bytes"]) / MILLION, _ms(store, factors[store["grows"]]),
            100 * store["metrics"]["MAP@R"], 100 * store["difference"][0],
            store["difference"][1] > 0 or store["difference"][2] < 0, 100 * store["metrics"]["recall@1"],
            100 * store["kept"], store is measured["stores"][0], store.get("detail", ""),
            timed_words(store, measured["gallery"], gallery),
        )
        for store in measured["stores"]
        if not store["refused"]
    ]  # fmt: skip


def timed_words(store: dict[str, Any], measured_on: int, gallery: int) -> str:
    """How the milliseconds of a store were found: what was measured, and how it is scaled to a gallery."""
    measured = f"Measured: {store['ms']:.3g} ms a query among {measured_on:,} images"
    if gallery == measured_on:
        return f"{measured}."
    constant = store.get("constant_ms", 0.0)
    part = f", but for {constant:.3g} ms of re-ranking" if constant else ""
    return f"{measured}; {SCALED[store['grows']].format(gallery=gallery)}{part}."


def _ms(store: dict[str, Any], factor: float) -> float:
    """The time of a store, with the part of it that grows multiplied."""
    constant = store.get("constant_ms", 0.0)
    return float(constant + (store["ms"] - constant) * factor)


def store_cells(row: Row) -> tuple[Any, ...]:
    """The values of one store by column; the difference with whether it is one, and whether it is that of itself."""
    difference = (row.less, row.sure, row.is_baseline)
    return row.title, row.bytes, row.megabytes, row.ms, row.quality, difference, row.recall, row.kept, row.detail


def written_store(column: int, value: Any) -> str:
    """A value as the table of stores shows it; a difference with two decimals, as int8 often loses less than 0.1.

    The baseline's difference from itself is a dash.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        less, sure, of_itself = value
        return NO_VALUE if of_itself else difference_words(less, sure)
    return f"{value:,.0f}" if column in (1, 2) else f"{value:.3g}" if column == 3 else f"{value:.1f}"
