"""The groups of the points in the colours of the theme, with columns of values that are read at first use."""

from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.numerals import significant
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.map.colours.colouring import OWN, grouped
from workbench.ui.pages.map.colours.columns import OF_ATTRIBUTE, Column, read_column
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.state.session import Session
from workbench.ui.style import theme

KEPT = 16  # columns that are kept: the newest
Key = tuple[int, str]  # evaluation and colouring


class PointColours(QObject):
    """Groups for a map. A column that has not been read is read on a thread, and `changed` follows.

    Until then the points keep the column of the previous evaluation, or are coloured by class.
    """

    changed = Signal()  # the groups have changed
    refused = Signal()  # the values cannot be read: another colouring must be chosen

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._key = "class"
        self._columns: dict[Key, Column] = {}
        self._asked: set[Key] = set()
        self._last: tuple[str, Column] | None = None
        session.workspace_changed.connect(self._forget_all)

    @property
    def key(self) -> str:
        """The colouring in use, one of COLOURINGS or an attribute."""
        return self._key

    def choose(self, key: str) -> None:
        """Choose a colouring; `changed` is not emitted. Tags are read again, because they may have changed."""
        self._key = key
        for of_tags in {"tag", key} if key.startswith(OF_ATTRIBUTE) else {"tag"}:
            self.forget(of_tags)

    def known(self, evaluation: int) -> bool:
        """Whether the groups of a map of this evaluation are final: no column is still to be read."""
        return self.key in OWN or (evaluation, self.key) in self._columns

    def groups(
        self, data: MapData, tokens: theme.Tokens | None = None, scale: tuple[float, float] | None = None
    ) -> Groups:
        """The groups of a map, by class until their column has been read; `scale` is `limits` of `grouped`."""
        if self.key in OWN:
            return grouped(data, self.key, tokens)
        column = self._columns.get((data.evaluation, self.key))
        if column is None:
            self._read((data.evaluation, self.key))
            column = self._last[1] if self._last is not None and self._last[0] == self.key else None
        return grouped(data, self.key if column is not None else "class", tokens, column, scale)

    def value(self, data: MapData, row: int) -> str:
        """Title and value that a point is coloured by; empty for a colouring in OWN, and until the column is read."""
        column = None if self.key in OWN else self._columns.get((data.evaluation, self.key))
        return "" if column is None else value_words(column, self.key, data, row)

    def forget(self, colouring: str = "") -> None:
        """Read columns again at their next use: those of one colouring, or all."""
        self._columns = {key: column for key, column in self._columns.items() if colouring and key[1] != colouring}
        if self._last is not None and colouring in ("", self._last[0]):
            self._last = None

    def _forget_all(self) -> None:
        self._asked.clear()  # what was being read is cancelled
        self.forget()

    def _read(self, key: Key) -> None:
        if key in self._asked:
            return
        self._asked.add(key)
        workspace = self._session.workspace

        def work(progress: Progress) -> Column:
            return read_column(workspace, *key)

        self._session.run_in_thread(
            "Colours of the map", work, partial(self._arrived, key), partial(self._failed, key), quiet=True
        )

    def _arrived(self, key: Key, column: Column) -> None:
        self._asked.discard(key)
        self._columns[key] = column
        for old in list(self._columns)[:-KEPT]:
            del self._columns[old]
        self._last = (key[1], column)
        self.changed.emit()

    def _failed(self, key: Key, problem: Problem) -> None:
        self._asked.discard(key)
        self._session.notify(problem)
        if self.key == key[1]:
            self.refused.emit()


def value_words(column: Column, colouring: str, data: MapData, row: int) -> str:
    """The value of one point with its title: "First-hit rank: 3"."""
    rows = np.flatnonzero(column.ids == data.ids[row])
    value = float(column.values[rows[0]]) if len(rows) else float("nan")
    if np.isnan(value):
        return f"{column.title}: none"
    if colouring == "prediction":
        return f"{column.title}: {data.class_name(int(value))}"
    return f"{column.title}: {column.words[int(value)] if column.words else significant(value, 4)}"
