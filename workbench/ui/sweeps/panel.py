"""The Sweeps panel: every sweep with its state and time left, its runs in line, and its commands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QMessageBox,
    QSplitter,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)  # fmt: skip

from workbench.comparing.measures import BEST
from workbench.progress import Progress
from workbench.sweeps import starting
from workbench.sweeps.objective import OPTIMISTIC, TRAIN_SIDE
from workbench.sweeps.objective import REPORTED as MAP_AT_R
from workbench.sweeps.progress import runs_in_all, seconds_left, standings, state_words
from workbench.sweeps.space import short, short_field
from workbench.ui.newest import Newest
from workbench.ui.report_offer import offer_report
from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.row_table import select_rows
from workbench.ui.words import NO_VALUE, PAUSE, RESUME, duration
from workbench.workspace import Workspace
from workbench.workspace import sweeps as stored
from workbench.workspace.sweeps import OPEN, Sweep, Trial

WIDTH, HEIGHT = 980, 600  # px at 100% text
EVERY = 1000  # ms between two looks
ID_ROLE = Qt.ItemDataRole.UserRole + 1  # number of the sweep or trial of a row
HEAD = ("Sweep", "Name", "State", "Runs done", "Time left", "Best")


@dataclass(frozen=True, slots=True)
class Look:
    """One sweep as it is now."""

    sweep: Sweep
    trials: list[Trial]


class SweepsPanel(QDialog):
    """Reads the workspace once a second while it is open; commands reach the worker through the workspace."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Sweeps")
        self._session = session
        self._looks: list[Look] = []
        self._wanted: int | None = None  # the sweep that is to be chosen
        self._reading = Newest(session, self)
        self._timer = QTimer(self, interval=EVERY)
        self._build()
        self._connect()
        self.resize(session.theme.px(WIDTH), session.theme.px(HEIGHT))
        self._offer()

    def _build(self) -> None:
        self.sweeps, self.trials = _table("Sweeps"), _table("Runs of the sweep in line")
        self.told = label("", "muted", wrap=True)
        self.pause = button(PAUSE, "pause")
        self.retry = button("Retry", "arrow-counter-clockwise")
        self.cancel = button("Cancel the sweep…", "x-circle", "danger")
        self.report = button("Report…", "file-text")
        self.compare = button("Compare", "scales", "primary")
        self.show_run = button("Show the run")
        self.up, self.down = button("Move up", "arrow-up"), button("Move down", "arrow-down")
        below = QWidget()
        column = QVBoxLayout(below)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.told)
        column.addWidget(self.trials, 1)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.sweeps)
        split.addWidget(below)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 5)
        split.setChildrenCollapsible(False)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        for widget in (self.pause, self.retry, self.cancel):
            foot.addWidget(widget)
        foot.addStretch(1)
        for widget in (self.up, self.down, self.show_run, self.report, self.compare):
            foot.addWidget(widget)
        whole = QWidget()
        inside = QVBoxLayout(whole)
        inside.setContentsMargins(16, 16, 16, 16)
        inside.setSpacing(12)
        inside.addWidget(split, 1)
        inside.addLayout(foot)
        self.stack = QStackedWidget()
        self.hint = EmptyHint(
            "No sweeps yet", "“Sweep…” beside Start on the Set up page varies a run over many settings.", "Go to Set up"
        )
        self.stack.addWidget(self.hint)
        self.stack.addWidget(whole)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.stack)

    def _connect(self) -> None:
        self._timer.timeout.connect(self.refresh)
        self.hint.pressed.connect(self._go_to_setup)
        self.sweeps.itemSelectionChanged.connect(self._show_trials)
        self.trials.itemSelectionChanged.connect(self._offer)
        self.trials.itemDoubleClicked.connect(self._open_run)
        self.pause.clicked.connect(self._pause_or_resume)
        self.retry.clicked.connect(self._retry)
        self.cancel.clicked.connect(self._cancel)
        self.compare.clicked.connect(self._compare)
        self.report.clicked.connect(self._report)
        self.show_run.clicked.connect(self._open_run)
        self.up.clicked.connect(self._move_up)
        self.down.clicked.connect(self._move_down)
        self._session.workspace_changed.connect(self._forget)

    def _go_to_setup(self) -> None:
        self.close()
        self._session.show_page("setup")

    # What is shown

    def choose(self, number: int) -> None:
        """Show that sweep as soon as it is read."""
        self._wanted = number
        self.refresh()

    def refresh(self) -> None:
        """Read the sweeps on a thread, one reading at a time."""
        if not self._reading.busy:
            work = partial(_look, self._session.workspace)
            self._reading.ask("Sweeps", work, self._take, self._failed, quiet=True)

    @property
    def reading(self) -> bool:
        """Whether the sweeps are being read."""
        return self._reading.busy

    def sweep(self) -> Look | None:
        """The chosen sweep."""
        number = _chosen(self.sweeps)
        return next((look for look in self._looks if look.sweep.id == number), None)

    def trial(self) -> Trial | None:
        """The chosen run of the line."""
        look, number = self.sweep(), _chosen(self.trials)
        return next((trial for trial in look.trials if trial.id == number), None) if look else None

    def _take(self, looks: list[Look]) -> None:
        self._looks = looks
        self.stack.setCurrentIndex(1 if looks else 0)
        _fill(self.sweeps, HEAD, [(look.sweep.id, _summary(look)) for look in looks])
        if self._wanted is not None or (looks and self.sweep() is None):
            wanted = looks[0].sweep.id if self._wanted is None and looks else self._wanted
            self._wanted = None
            _choose(self.sweeps, wanted)
        self._show_trials()

    def _failed(self, problem: Exception) -> None:
        self._timer.stop()
        self.told.setText(str(problem))

    def _forget(self) -> None:
        """Clear the panel, for another workspace."""
        self._reading.cancel()
        self._take([])

    def _show_trials(self) -> None:
        look = self.sweep()
        if look is None:
            self.told.setText("")
            _fill(self.trials, (), [])
        else:
            self.told.setText(_told(look.sweep))
            fields = list(dict.fromkeys(field for trial in look.trials for field in trial.setting))
            head = ("Line", *map(short_field, fields), "Seed", "Fold", "State", "Run", "Epoch", look.sweep.metric)
            rows = [(trial.id, _cells(number, trial, fields)) for number, trial in enumerate(look.trials, 1)]
            _fill(self.trials, head, rows)
            self.trials.setColumnHidden(head.index("Fold"), not any(trial.fold for trial in look.trials))
        self._offer()

    def _offer(self) -> None:
        """Enable the commands that apply now."""
        look, trial = self.sweep(), self.trial()
        sweep = look.sweep if look else None
        working = sweep is not None and _works(sweep)
        self.pause.setText(PAUSE if working else RESUME)
        self.pause.setEnabled(sweep is not None and sweep.state in ("active", "paused"))
        self.cancel.setEnabled(sweep is not None and sweep.state in ("active", "paused"))
        failed = [entry for entry in (look.trials if look else []) if entry.state in ("failed", "cancelled")]
        self.retry.setEnabled(bool(failed))
        self.retry.setToolTip("Put failed and cancelled runs back into the line")
        for widget in (self.compare, self.report):
            widget.setEnabled(bool(self._judged()))
        self.show_run.setEnabled(trial is not None and trial.run_id is not None)
        movable = [
            entry.id for entry in (look.trials if look else []) if entry.state == "queued" and entry.run_id is None
        ]
        position = movable.index(trial.id) if trial is not None and trial.id in movable else -1
        self.up.setEnabled(position > 0)
        self.down.setEnabled(0 <= position < len(movable) - 1)

    # What the person asks

    def _ask(self, work: Callable[[Workspace], object]) -> None:
        """Change the workspace on a thread, then read the sweeps again."""
        workspace = self._session.workspace
        self._session.run_in_thread("Sweeps", lambda progress: work(workspace), self._asked, quiet=True)

    def _asked(self, _result: object) -> None:
        self.refresh()

    def _pause_or_resume(self) -> None:
        look = self.sweep()
        if look is None:
            return
        number = look.sweep.id
        if _works(look.sweep):
            self._ask(lambda workspace: starting.pause(workspace, number))
        else:
            self._ask(lambda workspace: _go_on(workspace, number))

    def _retry(self) -> None:
        look = self.sweep()
        if look is not None:
            number = look.sweep.id
            self._ask(lambda workspace: stored.retry(workspace, number) and starting.work_apart(workspace, number))

    def _cancel(self) -> None:
        look = self.sweep()
        if look is None:
            return
        number = look.sweep.id
        box = QMessageBox(QMessageBox.Icon.NoIcon, "Cancel the sweep", f"Cancel sweep {number}?", parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText("Runs that have not begun will not run. What was trained is kept.")
        sure = box.addButton("Cancel the sweep", QMessageBox.ButtonRole.DestructiveRole)
        box.addButton("Keep it", QMessageBox.ButtonRole.RejectRole)
        sure.clicked.connect(partial(self._cancel_now, number))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _cancel_now(self, number: int, *_: object) -> None:
        self._ask(lambda workspace: stored.cancel(workspace, number))

    def _move_up(self) -> None:
        self._move(-1)

    def _move_down(self) -> None:
        self._move(1)

    def _move(self, by: int) -> None:
        look, trial = self.sweep(), self.trial()
        if look is not None and trial is not None:
            number, moved = look.sweep.id, trial.id
            self._ask(lambda workspace: stored.move(workspace, number, moved, by))

    def _compare(self) -> None:
        runs = self._judged()
        if runs:
            self._session.show_page("compare")
            self._session.comparison_offered.emit(runs)
            self.hide()

    def _report(self) -> None:
        look, runs = self.sweep(), self._judged()
        if look is not None and runs:
            metric = MAP_AT_R if look.sweep.metric in TRAIN_SIDE else look.sweep.metric  # what evaluations have
            offer_report(self._session, runs, metric, BEST)
            self.hide()

    def _judged(self) -> list[int]:
        """Runs of the chosen sweep that have its objective."""
        look = self.sweep()
        trials = look.trials if look is not None else []
        return [trial.run_id for trial in trials if trial.run_id is not None and trial.objective is not None]

    def _open_run(self, *_: object) -> None:
        trial = self.trial()
        if trial is not None and trial.run_id is not None:
            self._session.show_run(trial.run_id)
            self._session.show_page("train")
            self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()


def show_sweeps(session: Session, parent: QWidget | None, number: int | None = None) -> SweepsPanel:
    """Bring the window's one Sweeps panel to the front, with that sweep chosen."""
    window = parent.window() if parent is not None else None
    panel = window.findChild(SweepsPanel) if window is not None else None
    if panel is None:
        panel = SweepsPanel(session, window)
    panel.show()
    panel.raise_()
    if number is not None:
        panel.choose(number)
    return panel


def _look(workspace: Workspace, progress: Progress) -> list[Look]:
    return [Look(sweep, stored.trials(workspace, sweep.id)) for sweep in stored.every(workspace)]


def _go_on(workspace: Workspace, number: int) -> None:
    starting.resume(workspace, number)
    starting.work_apart(workspace, number)


def _works(sweep: Sweep) -> bool:
    return sweep.state == "active" and (sweep.alive or sweep.starting)


def _summary(look: Look) -> tuple[str, ...]:
    sweep, trials = look.sweep, look.trials
    done = sum(trial.state == "done" for trial in trials)
    left = seconds_left(sweep, trials)
    time = duration(left) if left and any(trial.state in OPEN for trial in trials) else NO_VALUE
    best = standings(sweep, trials)[:1]
    leader = NO_VALUE
    if best and best[0].mean is not None:
        setting = ", ".join(f"{short_field(field)} {short(value)}" for field, value in best[0].setting.items())
        leader = f"{best[0].mean:.4f} at {setting}"
    return (
        str(sweep.id), sweep.name, state_words(sweep, trials), f"{done} of {runs_in_all(sweep, trials)}", time, leader,
    )  # fmt: skip


def _told(sweep: Sweep) -> str:
    """What the sweep varies, the source of its values, and its objective."""
    parts = [f"{'; '.join(sweep.parameters)}."]
    parts += ["Settings are proposed one by one, after what was found."] if sweep.how == "bayes" else []
    parts += [f"{sweep.source}."] if sweep.source else []
    parts += [OPTIMISTIC] if sweep.reported else []
    return " ".join((*parts, sweep.problem)).strip()


def _cells(number: int, trial: Trial, fields: Sequence[str]) -> tuple[str, ...]:
    values = [short(trial.setting[field]) if field in trial.setting else NO_VALUE for field in fields]
    epoch = f"{trial.epoch} / {trial.epochs}" if trial.epochs else NO_VALUE
    result = f"{trial.objective:.4f}" if trial.objective is not None else trial.problem or NO_VALUE
    run = str(trial.run_id) if trial.run_id is not None else NO_VALUE
    return (str(number), *values, str(trial.seed), str(trial.fold), trial.state.capitalize(), run, epoch, result)


def _table(name: str) -> QTableWidget:
    table = QTableWidget()
    select_rows(table, name)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.horizontalHeader().setStretchLastSection(True)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return table


def _fill(table: QTableWidget, head: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Replace the rows; choice and scroll position stay with the row of the same number."""
    chosen = _chosen(table)
    table.blockSignals(True)
    fresh = table.columnCount() != len(head) or table.rowCount() != len(rows)
    table.setColumnCount(len(head))
    table.setRowCount(len(rows))
    table.setHorizontalHeaderLabels(list(head))
    for row, (number, cells) in enumerate(rows):
        for column, text in enumerate(cells):
            item = table.item(row, column)
            if item is None:
                item = QTableWidgetItem()
                table.setItem(row, column, item)
            if item.text() != text:
                fresh = fresh or len(text) > len(item.text())
                item.setText(text)
                item.setToolTip(f"<qt>{text.replace('&', '&amp;').replace('<', '&lt;')}</qt>")
            item.setData(ID_ROLE, number)
    if fresh:
        table.resizeColumnsToContents()
        table.horizontalHeader().setStretchLastSection(False)  # fitted to its words, it would stay so
        table.horizontalHeader().setStretchLastSection(True)
    if chosen != _chosen(table):
        _choose(table, chosen)
    table.blockSignals(False)


def _chosen(table: QTableWidget) -> int | None:
    items = table.selectedItems()
    return int(items[0].data(ID_ROLE)) if items else None


def _choose(table: QTableWidget, number: int | None) -> None:
    for row in range(table.rowCount()):
        item = table.item(row, 0)
        if item is not None and item.data(ID_ROLE) == number:
            table.selectRow(row)
            return
    table.clearSelection()
