"""The Runs list as a Qt model: rows in the order of the workspace, changed in place so that the view stays put."""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt

from workbench.ui.words import percent, state_word
from workbench.workspace.rows import Run

Index = QModelIndex | QPersistentModelIndex
RUN_ROLE = Qt.ItemDataRole.UserRole + 1  # the Run of a row


class RunList(QAbstractListModel):
    """One row per run."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: list[Run] = []

    def show(self, runs: list[Run]) -> None:
        """Take the runs as they are now; only rows that changed are announced."""
        if [run.id for run in runs] != [run.id for run in self._runs]:
            self.beginResetModel()
            self._runs = list(runs)
            self.endResetModel()
            return
        for row, (new, old) in enumerate(zip(runs, self._runs, strict=True)):
            if new != old:
                self._runs[row] = new
                self.dataChanged.emit(self.index(row), self.index(row))

    def row_of(self, run_id: int | None) -> int:
        """The row of a run, or -1."""
        return next((row for row, run in enumerate(self._runs) if run.id == run_id), -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._runs)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        run = self._runs[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return run.name
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{run.name}, {state_word(run.status)}, {scores(run)}"
            case Qt.ItemDataRole.ToolTipRole:
                return _as_plain_tooltip(details(run))
            case _ if role == RUN_ROLE:
                return run
        return None


class RunSearch(QSortFilterProxyModel):
    """Rows that hold every word of the search in name, loss, backbone, data, tags, note or state."""

    def __init__(self, source: RunList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self.setSourceModel(source)

    def search(self, text: str) -> None:
        self._words = text.casefold().split()
        self.invalidateRowsFilter()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        run: Run = self.sourceModel().index(source_row, 0, source_parent).data(RUN_ROLE)
        told = " ".join((run.name, run.loss, run.backbone, run.dataset, *run.tags, run.note, state_word(run.status)))
        return all(word in told.casefold() for word in self._words)


def scores(run: Run) -> str:
    """Best R@1 and MAP@R in percent."""
    return f"R@1 {percent(run.best.get('recall@1'))}  MAP@R {percent(run.best.get('MAP@R'))}"


def details(run: Run) -> str:
    """Lines for the tooltip."""
    last = f"last R@1 {percent(run.last.get('recall@1'))}  MAP@R {percent(run.last.get('MAP@R'))} (%)"
    lines = [run.name, f"{state_word(run.status)}, epoch {run.epoch} / {run.epochs}", f"best {scores(run)} (%)", last]
    lines += [f"{run.dataset}, {run.backbone}, {run.loss}, seed {run.seed}"]
    lines += [", ".join(run.tags)] if run.tags else []
    lines += [text for text in (run.note, run.problem) if text]
    return "\n".join(lines)


def _as_plain_tooltip(text: str) -> str:
    """Qt guesses markup in tooltips; escaped and wrapped it can only be read as these words."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")
    return f"<qt>{escaped}</qt>"
