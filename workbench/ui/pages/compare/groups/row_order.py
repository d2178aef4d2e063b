"""The order of the groups in their table: as they are compared, or by one of its columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from math import isnan

from workbench.comparing.difference.baseline import BaselineRow
from workbench.names import numbers_in_order


class Kind(Enum):
    """What a column holds."""

    GROUP = auto()
    SEEDS = auto()
    VALUE = auto()
    INTERVAL = auto()
    DIFFERENCE = auto()
    SECONDS = auto()
    MEMORY = auto()


FALLING = (Kind.VALUE, Kind.INTERVAL, Kind.DIFFERENCE)  # of these a first click puts the highest number first


@dataclass(frozen=True, slots=True)
class RowOrder:
    """By a column; `metric` is that of a value, an interval, a difference or of seeds, else empty."""

    kind: Kind
    metric: str
    falling: bool

    def clicked(self, kind: Kind, metric: str) -> "RowOrder | None":
        """The order after a click on a column: the other way round if it is by this one, after that none."""
        if (kind, metric) != (self.kind, self.metric):
            return first_order(kind, metric)
        turned = RowOrder(kind, metric, not self.falling)
        return None if turned == first_order(kind, metric) else turned


def first_order(kind: Kind, metric: str) -> RowOrder:
    """The order after the first click on a column."""
    return RowOrder(kind, metric, kind in FALLING)


def in_order(rows: Sequence[BaselineRow], order: RowOrder | None) -> list[BaselineRow]:
    """The baseline first, as it is what the others are compared with; those without a value last.

    Rows stay as they are without an order, and where no column has its metric any more.
    """
    metrics = [cell.metric for cell in rows[0].cells] if rows else []
    if order is None or not rows or (order.metric and order.metric not in metrics):
        return list(rows)
    baseline, others = list(rows[:1]), rows[1:]
    if order.kind is Kind.GROUP:
        named = sorted(others, key=lambda row: (numbers_in_order(row.group.title), row.group.title))
        return baseline + (named[::-1] if order.falling else named)
    at = metrics.index(order.metric) if order.metric else 0
    keyed = [(_number(row, order.kind, at), row) for row in others]
    known = [(number, row) for number, row in keyed if number is not None]
    known.sort(key=lambda entry: entry[0], reverse=order.falling)
    return [*baseline, *(row for _, row in known), *(row for number, row in keyed if number is None)]


def _number(row: BaselineRow, kind: Kind, at: int) -> float | None:
    """What a row is ordered by; None where it has no such number."""
    cell = row.cells[at]
    summary, difference = cell.summary, cell.difference
    match kind:
        case Kind.SEEDS:
            return summary.interval.n
        case Kind.VALUE | Kind.INTERVAL:
            number: float | None = summary.interval.mean
        case Kind.DIFFERENCE:
            number = None if difference is None else difference.mean
        case Kind.SECONDS:
            number = summary.seconds
        case _:
            number = summary.memory
    return None if number is None or isnan(number) else number
