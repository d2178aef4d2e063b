"""The Runs list as a Qt model: rows in the order of the workspace, changed in place so that the view stays put."""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.ui.words import percent, state_word
from workbench.workspace.rows import Run

Index = QModelIndex | QPersistentModelIndex
RUN_ROLE = Qt.ItemDataRole.UserRole + 1  # the Run of a row


class RunList(QAbstractListModel):
    """One row per run that holds every word of the search in name, loss, backbone, data, tags, note or state."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[Run] = []
        self._shown: list[Run] = []
        self._words: list[str] = []

    def show(self, runs: list[Run]) -> None:
        """Take the runs as they are now."""
        self._all = list(runs)
        self._refresh()

    def search(self, text: str) -> None:
        """Show only runs with these words."""
        self._words = text.casefold().split()
        self._refresh()

    def row_of(self, run_id: int | None) -> int:
        """The row of a run, or -1."""
        return next((row for row, run in enumerate(self._shown) if run.id == run_id), -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        run = self._shown[index.row()]
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

    def _refresh(self) -> None:
        """Only rows that changed are announced, so that the view keeps its place."""
        wanted = [run for run in self._all if self._fits(run)]
        if [run.id for run in wanted] != [run.id for run in self._shown]:
            self.beginResetModel()
            self._shown = wanted
            self.endResetModel()
            return
        for row, (new, old) in enumerate(zip(wanted, self._shown, strict=True)):
            if new != old:
                self._shown[row] = new
                self.dataChanged.emit(self.index(row), self.index(row))

    def _fits(self, run: Run) -> bool:
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
