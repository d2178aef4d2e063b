"""The Runs list as a Qt model: rows in the order of the workspace, changed in place so that the view stays put."""

from dataclasses import replace
from statistics import fmean
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.ui.words import percent, state_word
from workbench.workspace.rows import Experiment, Run, counting

Index = QModelIndex | QPersistentModelIndex
# The states of which the first is shown for a group.
ORDER = ("queued", "failed", "interrupted", "stopped", "cancelled", "running", "waiting")
RUN_ROLE = Qt.ItemDataRole.UserRole + 1  # the Run of a row


FOLD_ROLE = RUN_ROLE + 1  # of a row: "folded" or "open" for an experiment, "inside" for one of its runs, else ""


class RunList(QAbstractListModel):
    """One row per run that holds every word of the search in name, loss, backbone, data, tags, note or state.

    Runs of one experiment stand under a row of its own, which unfolds; its number is minus the experiment's.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[Run] = []
        self._shown: list[Run] = []
        self._words: list[str] = []
        self._experiments: dict[int, Experiment] = {}
        self._open: set[int] = set()

    def show(self, runs: list[Run], experiments: list[Experiment] | None = None) -> None:
        """Take the runs as they are now; without experiments every run has its own row."""
        self._all = list(runs)
        self._experiments = {experiment.id: experiment for experiment in experiments or []}
        self._refresh()

    def unfold(self, experiment: int, *, on: bool | None = None) -> None:
        """Show an experiment's runs, or hide them; by default the other way round."""
        wanted = experiment not in self._open if on is None else on
        (self._open.add if wanted else self._open.discard)(experiment)
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
        """The run, its name, tooltip or accessible text, by role."""
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
            case _ if role == FOLD_ROLE:
                return self._fold(run)
        return None

    def _refresh(self) -> None:
        """Only rows that changed are announced, so that the view keeps its place."""
        wanted = self._rows([run for run in self._all if self._fits(run)])
        if [run.id for run in wanted] != [run.id for run in self._shown]:
            self.beginResetModel()
            self._shown = wanted
            self.endResetModel()
            return
        for row, (new, old) in enumerate(zip(wanted, self._shown, strict=True)):
            if new != old:
                self._shown[row] = new
                self.dataChanged.emit(self.index(row), self.index(row))

    def _rows(self, runs: list[Run]) -> list[Run]:
        """The runs, those of an experiment behind its row or hidden in it."""
        inside: dict[int, list[Run]] = {}
        for run in runs:
            if run.experiment_id in self._experiments:
                inside.setdefault(run.experiment_id or 0, []).append(run)
        rows: list[Run] = []
        for run in runs:
            several = inside.get(run.experiment_id or 0)
            if several is None:
                rows.append(run)
            elif several[0] is run:
                rows.append(together(self._experiments[run.experiment_id or 0], several))
                rows += reversed(several) if run.experiment_id in self._open else []
        return rows

    def _fold(self, run: Run) -> str:
        if run.id < 0:
            return "open" if -run.id in self._open else "folded"
        return "inside" if run.experiment_id in self._experiments else ""

    def _fits(self, run: Run) -> bool:
        text = " ".join((run.name, run.loss, run.backbone, run.dataset, *run.tags, run.note, state_word(run.status)))
        return all(word in text.casefold() for word in self._words)


def together(experiment: Experiment, runs: list[Run]) -> Run:
    """One row for runs that belong together: the mean best scores of those that are done, and the state of the work."""
    working = [run for run in runs if run.status in ("running", "waiting")]
    states = {run.status for run in runs}
    status = working[0].status if working else "done" if states == {"done"} else min(states - {"done"}, key=ORDER.index)
    named = [run.best for run in counting(runs) if run.best]
    best = {name: fmean(best_scores[name] for best_scores in named) for name in ("recall@1", "MAP@R")} if named else {}
    done = sum(run.status == "done" for run in runs)
    note = f"{done} of {len(runs)} runs are done"
    if concatenated := experiment.result.get("concatenated"):
        note += f"; embeddings side by side: MAP@R {percent(fmean(result['MAP@R'] for result in concatenated))} %"
    return replace(
        runs[-1], id=-experiment.id, name=experiment.name, status=status, best=best, problem="",
        epoch=done, epochs=len(runs), note=note, experiment_id=None,
    )  # fmt: skip


def scores(run: Run) -> str:
    """Best R@1 and MAP@R in percent."""
    return f"R@1 {percent(run.best.get('recall@1'))}  MAP@R {percent(run.best.get('MAP@R'))}"


def details(run: Run) -> str:
    """Lines for the tooltip."""
    last = f"last R@1 {percent(run.last.get('recall@1'))}  MAP@R {percent(run.last.get('MAP@R'))} (%)"
    lines = [run.name, f"{state_word(run.status)}, epoch {run.epoch} / {run.epochs}", f"best {scores(run)} (%)", last]
    lines += [f"{run.dataset}, {run.backbone}, {run.loss}, seed {run.seed}"]
    lines += [", ".join(run.tags)] if run.tags else []
    lines += [text for text in (run.note, run.problem, run.unread) if text]
    return "\n".join(lines)


def _as_plain_tooltip(text: str) -> str:
    """Qt guesses markup in tooltips; escaped and wrapped it can only be read as these words."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")
    return f"<qt>{escaped}</qt>"
