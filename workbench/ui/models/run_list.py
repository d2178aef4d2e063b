"""The Runs list as a Qt model: sorted, grouped and filtered rows, changed in place so that the view stays put."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any
from zlib import crc32

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.entries.catalog import Catalog
from workbench.names import LONGEST_SENTENCE, visible_name
from workbench.numerals import percentage
from workbench.ui.models.run_words import fits
from workbench.ui.state.selection.ticks import Ticks
from workbench.ui.style.words import THIN, device_of, duration, memory, percent, places_of, state_word
from workbench.workspace.rows import Experiment, Run, counting, newest_first
from workbench.workspace.run_names import data_title, names_of, trained_titles
from workbench.workspace.run_search import asks_for_size, why_unmet, words_of

Index = QModelIndex | QPersistentModelIndex
# The states of which the first is shown for a group.
ORDER = ("queued", "failed", "interrupted", "stopped", "cancelled", "running", "waiting")
RUN_ROLE = Qt.ItemDataRole.UserRole + 1  # the Run of a row
FOLD_ROLE = RUN_ROLE + 1  # of a row: "folded" or "open" for a group, "inside" for one of its runs, else ""
TICK, NAME = Qt.ItemDataRole.CheckStateRole, Qt.ItemDataRole.EditRole
TICKED, EMPTY, SOME = Qt.CheckState.Checked, Qt.CheckState.Unchecked, Qt.CheckState.PartiallyChecked
SIZE_ROLE = FOLD_ROLE + 1  # of a row: the bytes of its runs' folders, None while they are not known
OTHER_GROUPS = 2**31  # the numbers of groups that are no experiments begin here


def _best(metric: str, run: Run, _bytes: int) -> float:
    return -run.best.get(metric, -1.0)


def _short_size(size: int) -> str:
    """Bytes in the width of a score: "0.1 MB" where others write "0.12 MB", and "0 MB" for less than half of that."""
    tenths = 50_000 <= size < 9_950_000
    return f"{size / 1e6:.1f}{THIN}MB" if tenths else memory(size if size >= 50_000 else 0)


ORDERS: dict[str, tuple[str, Callable[[Run, int], Any]]] = {  # by the run and the bytes of its folder
    "newest": ("Newest", lambda run, size: newest_first(run)),
    "name": ("Name", lambda run, size: run.name.casefold()),
    "best": ("Best MAP@R", partial(_best, "MAP@R")),
    "recall": ("Best R@1", partial(_best, "recall@1")),
    "state": ("State", lambda run, size: state_word(run.status)),
    "time": ("Longest", lambda run, size: -run.seconds),
    "size": ("Largest", lambda run, size: -size),
}
GROUPINGS: dict[str, tuple[str, Callable[[Run, Catalog], Iterable[str]]]] = {
    "experiment": ("Experiment", lambda run, known: ()),
    "loss": ("Loss", lambda run, known: trained_titles(known, run)[1:]),
    "backbone": ("Backbone", lambda run, known: trained_titles(known, run)[:1]),
    "dataset": ("Data set", lambda run, known: (data_title(known, run) or "No data yet",)),
    "tag": ("Tag", lambda run, known: (run.tags[0] if run.tags else "No tag",)),
    "none": ("No groups", lambda run, known: ()),
}
FILTERS: dict[str, tuple[str, Callable[[Run], bool]]] = {
    "all": ("All runs", lambda run: True),
    "live": ("Running and queued", lambda run: run.live),
    "done": ("Done", lambda run: run.status == "done"),
    "ended": ("Failed or ended early", lambda run: run.resumable),
}
COLUMNS: dict[str, tuple[str, Callable[[Run, int | None], str]]] = {  # the bytes of its folder, None: not known
    "recall@1": ("R@1", lambda run, size: percent(run.best.get("recall@1"))),
    "MAP@R": ("MAP@R", lambda run, size: percent(run.best.get("MAP@R"))),
    "time": ("Time", lambda run, size: duration(run.seconds) if run.seconds else ""),
    "size": ("Size", lambda run, size: "" if size is None else _short_size(size)),
    "device": ("Device", lambda run, size: places_of(run)),
}


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How the list is arranged; names of ORDERS, GROUPINGS, FILTERS and COLUMNS.

    The grouping may also be a setting of the configs: a dotted field, "training.lr". A test stands with the settings of
    the run that trained its network, and with its own data.
    """

    order: str = "newest"
    grouping: str = "experiment"
    filter: str = "all"
    columns: tuple[str, ...] = ("MAP@R",)

    @property
    def setting(self) -> str:
        """The setting by which the runs are grouped; empty if they are not grouped by one."""
        return self.grouping if "." in self.grouping else ""


class RunList(QAbstractListModel):
    """One row per run that has every word of the search in name, loss, backbone, data, tags, note or state.

    A word such as "lr<0.01", "MAP@R>80", "tag=baseline" or "date=today" is a condition, too: see run_search.py.

    Runs of one group stand under a row of its own, which unfolds; its number is negative. Experiments are folded at
    first, other groups open. A run is ticked to be compared; the tick of a group is that of all its runs.

    Args:
        ticks: the ticked runs, by default of its own.
    """

    renamed = Signal(int, str)  # run, the name that the user gave it

    def __init__(self, ticks: Ticks | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ticks = ticks or Ticks(self)
        self.ticks.changed.connect(self._draw_ticks)
        self.known: Catalog = {}  # how entries are called
        self.can_tick = True  # not in the trash
        self._all: list[Run] = []
        self._shown: list[Run] = []
        self._fitting: list[int] = []  # the runs that search and filter leave
        self._words: list[str] = []
        self._sizes: Mapping[int, int] = {}  # bytes of the folders of runs, as far as they are known
        self._experiments: dict[int, Experiment] = {}
        self._toggled: set[int] = set()  # groups whose folding was changed
        self._by_setting: tuple[str, Mapping[str, str]] = ("", {})  # a setting, and the group of each config
        self._members: dict[int, list[Run]] = {}  # the runs of each group that is shown, by its number
        self.arrangement = Arrangement()

    def show(self, runs: list[Run], experiments: list[Experiment] | None = None) -> None:
        """Show these runs; without experiments every run has its own row."""
        self._all = list(runs)
        self._experiments = {experiment.id: experiment for experiment in experiments or []}
        self._refresh()

    def arrange(self, arrangement: Arrangement) -> None:
        """Sort, group and filter in another way."""
        self.arrangement = arrangement
        self._refresh()

    def configs_for(self, setting: str = "") -> list[str]:
        """The configs (TOML) whose value of a setting groups the runs, also those that search and filter leave out."""
        return [_config_for(setting, run) for run in self._all]

    @property
    def runs(self) -> Sequence[Run]:
        """All runs, also those that search and filter leave out."""
        return self._all

    @property
    def wants_sizes(self) -> bool:
        """Whether the list is sorted or searched by the size of runs, or shows it."""
        arranged = self.arrangement.order == "size" or "size" in self.arrangement.columns
        return arranged or asks_for_size(self._words)

    def take_sizes(self, sizes: Mapping[int, int]) -> None:
        """Take the bytes of the folders of runs, by their numbers."""
        if sizes != self._sizes:
            self._sizes = sizes
            self._refresh()
            if self._shown:
                self.dataChanged.emit(self.index(0), self.index(len(self._shown) - 1), [SIZE_ROLE])

    def group(self, setting: str, titles: Mapping[str, str]) -> None:
        """Take the title of each config's group, for a list that is grouped by that setting."""
        self._by_setting = (setting, titles)
        self._refresh()

    @property
    def ticked(self) -> list[int]:
        """The ticked runs, oldest first."""
        return sorted(self.ticks.runs)

    def tick(self, row: int, to: int | None = None) -> None:
        """Tick the run of a row, or all of its group; untick where they are ticked.

        Args:
            to: all rows from this one to `row` get the tick of `row`.
        """
        ticked, ids = self.ticks.runs, self._ids(self._shown[row])
        on = not ids <= ticked
        if to is not None:
            ids = {number for run in self._shown[min(row, to) : max(row, to) + 1] for number in self._ids(run)}
        self._tick(ids, on)

    def tick_all(self) -> None:
        """Tick all runs that search and filter leave, folded ones, too; untick them where they all are ticked."""
        self._tick(set(self._fitting), self.all_ticked != TICKED)

    @property
    def all_ticked(self) -> Qt.CheckState:
        """Whether all runs that search and filter leave are ticked, or some of them."""
        return self._tick_of(set(self._fitting))

    def _tick(self, ids: set[int], on: bool) -> None:
        if self.can_tick:
            self.ticks.choose(self.ticks.runs | ids if on else self.ticks.runs - ids)

    def _tick_of(self, ids: set[int]) -> Qt.CheckState:
        ticked = self.ticks.runs
        return TICKED if ids and ids <= ticked else SOME if ids & ticked else EMPTY

    def _draw_ticks(self) -> None:
        if self._shown:
            self.dataChanged.emit(self.index(0), self.index(len(self._shown) - 1), [TICK])

    def _ids(self, run: Run) -> set[int]:
        return {run.id} if run.id > 0 else {member.id for member in self._members.get(-run.id, ())}

    def unfold(self, group: int, *, on: bool | None = None) -> None:
        """Show the runs of a group, or hide them; by default the other way round."""
        if on is None or on != self._is_open(group):
            self._toggled ^= {group}
        self._refresh()

    def _is_open(self, group: int) -> bool:
        return (group >= OTHER_GROUPS) != (group in self._toggled)

    def search(self, text: str) -> None:
        """Show only runs with these words."""
        self._words = words_of(text)
        self._refresh()

    def why_unmet(self) -> str:
        """A sentence, after a blank, on a condition of the search that no run can meet; empty without one."""
        return why_unmet(self._all, self._words)

    def row_of(self, run_id: int | None) -> int:
        """The row of a run, or -1."""
        return next((row for row, run in enumerate(self._shown) if run.id == run_id), -1)

    def folded_over(self, run_id: int | None) -> int:
        """The number of the folded group that hides this run, which is negative; 0 if none does."""
        groups = (group for group, members in self._members.items() if any(run.id == run_id for run in members))
        return next((-group for group in groups if not self._is_open(group)), 0)

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
                size = self._size_of(run) if self.wants_sizes else None
                size_words = "" if size is None else f", {memory(size)}"
                return f"{run.name}, {state_word(run.status)}, {scores(run.best)}{size_words}"
            case Qt.ItemDataRole.ToolTipRole:
                size = self._size_of(run)
                more = "" if size is None else f"\n{memory(size)} on the disk"
                return _as_plain_tooltip(details(run, self.known) + more)
            case _ if role == NAME:
                return run.name
            case _ if role == TICK:
                return self._tick_of(self._ids(run)) if self.can_tick else None
            case _ if role == RUN_ROLE:
                return run
            case _ if role == FOLD_ROLE:
                return self._fold(run)
            case _ if role == SIZE_ROLE:
                return self._size_of(run)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Runs can be ticked and renamed, groups ticked."""
        if not index.isValid():
            return super().flags(index)
        of_run = Qt.ItemFlag.ItemIsEditable if self._shown[index.row()].id > 0 else Qt.ItemFlag(0)
        box = Qt.ItemFlag.ItemIsUserCheckable if self.can_tick else Qt.ItemFlag(0)
        return super().flags(index) | box | of_run

    def setData(self, index: Index, value: Any, role: int = NAME) -> bool:
        """Tick a row, or ask for another name of its run."""
        if role == TICK:
            self.tick(index.row())
            return True
        run, name = self._shown[index.row()], str(value).strip()
        if role != NAME or not name or name == run.name:
            return False
        self.renamed.emit(run.id, name)
        return True

    def _refresh(self) -> None:
        """Only rows that changed are announced, so that the view keeps its place."""
        shown, sizes = FILTERS[self.arrangement.filter][1], self._sizes
        fitting = [run for run in self._all if shown(run) and fits(run, self._words, self.known, sizes.get(run.id))]
        self._fitting = [run.id for run in fitting]
        wanted = self._rows(fitting)
        if [run.id for run in wanted] != [run.id for run in self._shown]:
            self.beginResetModel()
            self._shown = wanted
            self.endResetModel()
            return
        for row, (new, old) in enumerate(zip(wanted, self._shown, strict=True)):
            if new is not old and new != old:
                self._shown[row] = new
                self.dataChanged.emit(self.index(row), self.index(row))

    def _rows(self, runs: list[Run]) -> list[Run]:
        """The runs in order, those of a group behind its row or hidden in it."""
        key = ORDERS[self.arrangement.order][1]
        runs = sorted(runs, key=lambda run: key(run, self._sizes.get(run.id, 0)))
        self._members = {}
        for run in runs:
            if group := self._group_of(run):
                self._members.setdefault(group, []).append(run)
        rows: list[Run] = []
        for run in runs:
            group = self._group_of(run)
            if not group:
                rows.append(run)
            elif (members := self._members[group])[0] is run:
                rows.append(self._head(group, members))
                newest_first = self.arrangement.order == "newest"
                rows += (members[::-1] if newest_first else members) if self._is_open(group) else []
        return rows

    def _group_of(self, run: Run) -> int:
        """The number of a run's group; 0 for none."""
        if self.arrangement.grouping == "experiment":
            return (run.experiment_id or 0) if run.experiment_id in self._experiments else 0
        return next((OTHER_GROUPS + crc32(title.encode()) for title in self._titles_of(run)), 0)

    def _titles_of(self, run: Run) -> Iterable[str]:
        """The title of a run's group; none where it stands alone, or while its settings are being read."""
        if not self.arrangement.setting:
            return GROUPINGS[self.arrangement.grouping][1](run, self.known)
        setting, titles = self._by_setting
        config = _config_for(setting, run)
        return (titles[config],) if setting == self.arrangement.setting and config in titles else ()

    def _head(self, group: int, members: list[Run]) -> Run:
        if group in self._experiments:
            return together(self._experiments[group], members)
        (title,) = self._titles_of(members[0])
        return together(Experiment(group, title, "", "", {}), members)

    def _size_of(self, run: Run) -> int | None:
        """The bytes of a run, or of all runs of a group that are known; None if none is."""
        known = [self._sizes[number] for number in self._ids(run) if number in self._sizes]
        return sum(known) if known else None

    def _fold(self, run: Run) -> str:
        if run.id < 0:
            return "open" if self._is_open(-run.id) else "folded"
        return "inside" if self._group_of(run) else ""


def together(experiment: Experiment, runs: list[Run]) -> Run:
    """One row for runs that belong together: the mean best scores of those that are done, and the state of the work.

    Folds of a seed are one value, as in Compare, so that a seed of which fewer are done counts as much.
    """
    working = [run for run in runs if run.status in ("running", "waiting")]
    states = {run.status for run in runs}
    status = working[0].status if working else "done" if states == {"done"} else min(states - {"done"}, key=ORDER.index)
    trained = [run for run in runs if run.tested is None]  # scores of tests are of other images
    named = [run for run in counting(trained or runs) if run.best]
    by_seed = [[run.best for run in named if run.seed == seed] for seed in {run.seed for run in named}]
    best = {
        name: fmean(fmean(scores_of_run[name] for scores_of_run in of_seed) for of_seed in by_seed)
        for name in (("recall@1", "MAP@R") if by_seed else ())
        if all(name in run.best for run in named)  # not one that a run's damaged evaluation has not
    }
    done = sum(run.status == "done" for run in runs)
    note = f"{done} of {len(runs)} runs are done"
    if concatenated := experiment.result.get("concatenated"):
        note += f"; embeddings side by side: MAP@R {percentage(fmean(result['MAP@R'] for result in concatenated))}"
    return replace(
        runs[-1], id=-experiment.id, name=experiment.name, status=status, best=best, problem="",
        epoch=done, epochs=len(runs), note=note, experiment_id=None,
    )  # fmt: skip


def _config_for(setting: str, run: Run) -> str:
    """The config (TOML) that says a setting of a run: a test has that of its `trainer`, but its own data."""
    return run.config if run.trainer is None or setting.startswith("dataset.") else run.trainer.config


def scores(metrics: Mapping[str, float]) -> str:
    """R@1 and MAP@R among the metrics of an evaluation."""
    return f"R@1 {percentage(metrics.get('recall@1'))}  MAP@R {percentage(metrics.get('MAP@R'))}"


def details(run: Run, known: Catalog) -> str:
    """Lines for the tooltip; `known` is how entries are called."""
    last = f"last {scores(run.last)}"
    reached = f", epoch {run.epoch} / {run.epochs}" if run.tested is None else ""
    lines = [run.name, f"{state_word(run.status)}{reached}", f"best {scores(run.best)}", last]
    lines += [f"{', '.join(filter(None, names_of(known, run)))}, seed {run.seed}"]
    lines += [f"on {device}"] if (device := device_of(run)) else []
    lines += [", ".join(run.tags)] if run.tags else []
    lines += [visible_name(text, LONGEST_SENTENCE) for text in (run.note, run.problem, run.unread) if text]
    return "\n".join(lines)


def _as_plain_tooltip(text: str) -> str:
    """Qt guesses markup in tooltips; escaped and wrapped it can only be read as these words."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")
    return f"<qt>{escaped}</qt>"
