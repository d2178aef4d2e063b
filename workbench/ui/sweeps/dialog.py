"""The sweep dialog: which fields with which values, how, how often; what it would cost; Start."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QScrollArea, QWidget

from workbench.config import RunConfig
from workbench.jobs.newest import Newest
from workbench.metric_names import metric_name
from workbench.places import launching, sending
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.sweeps import objective, starting
from workbench.sweeps.early_stop import FEWEST, NOT_AT_PLACES
from workbench.sweeps.plan import DEFAULT_TRIALS, Plan
from workbench.sweeps.proposals import HOWS
from workbench.sweeps.space import written
from workbench.ui.places.choice import HERE, WHERE, PlaceChoice
from workbench.ui.state.background.tasks import Task, heard_by
from workbench.ui.state.session import Session
from workbench.ui.style.tab_order import follow
from workbench.ui.sweeps.draft import Checked, Entered, SweepDraft
from workbench.ui.sweeps.fixed_line import FixedLine
from workbench.ui.sweeps.panel import show_sweeps
from workbench.ui.sweeps.parameter_row import ParameterRow
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.editors import ChoiceEditor, LineEditor, TickEditor
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight

WIDTH, HEIGHT = 680, 560  # px at 100% text
SETTLES_AFTER = 250  # ms without an edit
OWN = ""  # key of the entry for no paper's sweep
START = "Start the sweep"
CHECKING = "Checking every trial…"
NOT_STARTED = "The start was cancelled. Nothing was started."
AS_MANY = "A grid trains every combination of the values: their number sets the number of trials."
STOPS_EARLY = (
    f"Stop a trial after an epoch if its best value so far is worse than the median of at least {FEWEST} others at "
    "that epoch. Its value is then the best so far. Leave it off where a good setting may start slowly, and where the "
    "values are to be reported."
)
WAITS = "Waits for Preflight: the sweep starts when it passes."


class SweepDialog(MainButtonDialog):
    """Varies the run of the Set up page. Entries are checked on a thread: a grid may have thousands of trials.

    Args:
        session: whose workspace gets the sweep.
        config, preflight: as SweepDraft takes them.
        place: where the runs train at first: the name of a place, or HERE.
    """

    def __init__(
        self, session: Session, config: RunConfig, preflight: "Preflight | None" = None, place: str = HERE,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Sweep")
        self._session = session
        self.draft = SweepDraft(config, session.catalog, preflight)
        self.plan: Plan | None = None  # what would start; None while something is wrong or being checked
        self._checking = Newest(session)
        self._starting: Task | None = None
        self._over = False
        self.wait: Callable[[], bool] = lambda: False  # whether a start has to wait for `start_now` or `refuse`
        self._asked: Plan | None = None  # whose start was asked for last
        self._forbidden = ""  # why the config cannot start
        self.rows: list[ParameterRow] = []
        self._timer = QTimer(self, singleShot=True, interval=SETTLES_AFTER)
        self._build()
        self._connect()
        self._show_places()
        self.where.set_value(place)
        self._place_chosen()
        self.add_row()
        open_at(self, session.theme.px(WIDTH), session.theme.px(HEIGHT))
        self._edited()

    def _build(self) -> None:
        presets = self.draft.presets
        self.preset = ChoiceEditor(
            [OWN, *(preset.key for preset in presets)], ["Your own", *(preset.title for preset in presets)]
        )
        self.preset.setAccessibleName("Values from a paper's sweep")
        self.about = label("", "muted", wrap=True)
        self.about.hide()
        self.fixed = FixedLine()
        self.how = ChoiceEditor(list(HOWS), list(HOWS.values()))
        self.trials = LineEditor("integer")
        self.trials.set_value(DEFAULT_TRIALS)
        self.seeds = LineEditor("integer")
        self.seeds.set_value(self.draft.config.seeds)
        self.figure = ChoiceEditor(self.draft.objectives, [metric_name(name) for name in self.draft.objectives])
        self.where = PlaceChoice()
        self.early = TickEditor()
        self.early.setText("Stop bad trials early")
        self.add = button("Add a parameter", "plus", "quiet")
        self.summary = label("", wrap=True)
        self.warning = label(objective.OPTIMISTIC, "warning", wrap=True)
        self.problem = label("", "error", wrap=True)
        self.cancel, self.start = button("Cancel"), button(START, "play", "primary")
        self.main = self.start
        in_column(
            ElidedLabel(f"Vary “{self.draft.config.name}”", "section", Qt.TextElideMode.ElideMiddle),
            self._choices(),
            self.about,
            self.fixed,
            label("Parameters: values with commas, or LOW..HIGH, then :log and points for a grid", "caption"),
            (self._parameters(), 1),
            *(self.summary, self.warning, self.problem),
            in_row(1, self.cancel, self.start),
            on=self,
            margins=16,
            spacing=8,
        )

    def _choices(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        named = (
            ("Values from", self.preset, 0, 0), ("How", self.how, 0, 2), ("Objective", self.figure, 1, 0),
            ("Trials", self.trials, 1, 2), ("Seeds per trial", self.seeds, 1, 4), (WHERE, self.where, 2, 0),
        )  # fmt: skip
        for text, widget, row, column in named:
            if not widget.accessibleName():
                widget.setAccessibleName(text)
            grid.addWidget(caption(text, widget, ""), row, column)
            grid.addWidget(widget, row, column + 1, 1, 3 if widget is self.how else 1)
        grid.addWidget(self.early, 2, 2, 1, 4)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(3, 1)
        grid.setColumnStretch(5, 1)
        return grid

    def _parameters(self) -> QScrollArea:
        inside = QWidget()
        self._lines = in_column((self.add, Qt.AlignmentFlag.AlignLeft), 1, on=inside, margins=(0, 0, 4, 0))
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inside)
        return area

    def _connect(self) -> None:
        self.preset.edited.connect(self._take_preset)
        self.fixed.left_out.connect(self._changed)
        self.how.edited.connect(self._edited)
        self.figure.edited.connect(self._edited)
        for line in (self.trials, self.seeds):
            line.edited.connect(self._edited)
        self.early.edited.connect(self._edited)
        self.where.edited.connect(self._place_chosen)
        self._session.places.changed.connect(self._show_places)
        self.add.clicked.connect(self._add_pressed)
        self.cancel.clicked.connect(self.reject)
        self.start.clicked.connect(self.start_sweep)
        self._timer.timeout.connect(self._check)

    # What the user does

    def add_row(self, field: str = "", values: str = "") -> ParameterRow:
        """Add a parameter; by default a number of the loss that is not varied yet, or the learning rate."""
        row = ParameterRow(self._offered(), field or self.draft.next_field(self._varied()))
        row.values.setText(values)
        row.edited.connect(self._changed)
        row.removed.connect(self._remove)
        self.rows.append(row)
        self._lines.insertWidget(len(self.rows) - 1, row)
        follow(row.field, (row.values, row.cross, self.add, self.cancel, self.start))  # Qt puts a new row behind these
        return row

    def start_sweep(self) -> None:
        """Store the sweep, start its worker and show it; first its config is checked, where that is under way."""
        if self.plan is None:
            return
        self.start.setEnabled(False)
        self._asked = self.plan
        if self.wait():
            self.problem.hide()
            self.summary.setText(WAITS)
        else:
            self.start_now()

    def start_now(self) -> None:
        """Start the sweep, whose config was checked; nothing happens if it was edited since."""
        plan = self.plan
        if plan is None or plan is not self._asked or self._over:
            return
        self._show_cost()
        workspace, known = self._session.workspace, self._session.catalog
        place = self.where.chosen_of(self._session.places.all)

        def work(progress: Progress) -> tuple[int, str]:
            remark = ""
            progress("Checking the data", 0, 0)
            if place is None:
                listed = starting.refuse_unusable(plan, known, progress)
                remark = starting.unsuited_settings(plan, known, progress, listed)
            else:
                heard = heard_by(progress, f"Asking {place.name} for its files and devices")
                asked = launching.launcher_of(place, heard)
                remark = starting.refuse_unknown_data(plan, known, place, asked)  # where data are is asked for before
            progress("Storing the trials", 0, 0)  # from here on it is stored with its worker, or not at all
            number = starting.store(workspace, plan)
            starting.work_apart(workspace, number, place="" if place is None else place.name)
            return number, remark

        self._starting = self._session.run_in_thread(
            START, work, self._started, self._not_started, cancelled=partial(self._not_started, None), lasting=True
        )

    def refuse(self, reason: str) -> None:
        """Say why the start that waits is given up; it can be asked for again."""
        self._show_cost()
        self._not_started(Problem(f"The sweep was not started. {reason}"))

    def forbid(self, problem: Problem) -> None:
        """Say why no sweep of the config can start: its check has failed."""
        self._forbidden = f"Preflight refuses this config: nothing was started. {problem}"
        self._show_forbidden()

    def reject(self) -> None:
        """Close without starting anything; a start that is under way is cancelled as in the Activity panel."""
        self._over = True
        if self._starting is not None:
            self._starting.ask_to_end()
        super().reject()

    def done(self, result: int) -> None:
        """Close; what was edited last is not checked any more."""
        self._forget()
        super().done(result)

    def _started(self, made: tuple[int, str]) -> None:
        self._starting = None
        number, remark = made
        self._session.notify(f"Sweep {number} is started. It continues when this window is closed. {remark}".rstrip())
        if not self._over:  # it was closed too late to cancel the start
            show_sweeps(self._session, self.parentWidget(), number)
            self.accept()

    def _not_started(self, problem: Problem | None) -> None:
        """Say why no sweep was started, None after a cancel, and offer to start it again."""
        self._starting = None
        if self._over:
            if problem is not None:
                self._session.notify(problem)
            return
        place = self.where.chosen_of(self._session.places.all)
        if problem is None:
            self.problem.setText(NOT_STARTED)
            self.problem.show()
        elif isinstance(problem, sending.UnknownData) and place is not None:
            self._session.data_asked.emit(problem.path, place)
        else:
            self.problem.setText(str(problem))
            self.problem.show()
        self.start.setEnabled(self.plan is not None)

    def _add_pressed(self) -> None:
        self.add_row().values.setFocus()
        self._changed()

    def _remove(self, row: ParameterRow) -> None:
        self.rows.remove(row)
        self._lines.removeWidget(row)
        row.deleteLater()
        self._changed()

    def _take_preset(self) -> None:
        preset = self.draft.take(self.preset.value())
        self.fixed.show_changes({} if preset is None else self.draft.changes_of(preset))
        if preset is None:
            self._changed()
            return
        for row in tuple(self.rows):
            self._remove(row)
        self.draft.take(preset.key)  # which the removal of rows gave up
        self.preset.set_value(preset.key)
        self.about.setText(f"{preset.source}. {preset.summary}")
        self.about.show()
        for parameter in preset.parameters:
            self.add_row(parameter.field, written(parameter))
        self.how.set_value(preset.how)
        if preset.metric in self.draft.objectives:
            self.figure.set_value(preset.metric)
        if preset.trials is not None:
            self.trials.set_value(preset.trials)
        self._edited()

    def take_preflight(self, preflight: "Preflight") -> None:
        """Take what Preflight measured meanwhile and show the time."""
        self.draft.preflight = preflight
        self._show_cost()

    def _show_cost(self) -> None:
        if self.plan is not None:
            self.summary.setText(self.draft.cost(self.plan, self.where.value()))

    def _show_places(self) -> None:
        self.where.show_places([place.name for place in self._session.places.all])
        self._place_chosen()

    def _place_chosen(self) -> None:
        """Trials are stopped early on this machine only."""
        here = self.where.value() == HERE
        self.early.setEnabled(here)
        self.early.setToolTip(plain_tip(STOPS_EARLY if here else NOT_AT_PLACES))
        if self.early.value() and not here:
            self.early.set_value(False)
            self._edited()
        self._show_cost()

    # What it would be

    def _changed(self) -> None:
        """Forget the paper: the parameters were edited."""
        self.preset.set_value(OWN)
        self.draft.source = ""
        self.about.hide()
        self._edited()

    def _edited(self) -> None:
        self._forget()
        self.plan = None
        self.start.setEnabled(False)
        self.start.setToolTip("")
        is_grid = self.how.value() == "grid"
        self.trials.setEnabled(not is_grid)
        self.trials.setToolTip(AS_MANY if is_grid else "")
        self.fixed.show_varied(self._varied())
        offered = self._offered()
        for row in self.rows:
            row.offer(offered)
        self._timer.start()

    def _forget(self) -> None:
        self._timer.stop()
        self._checking.cancel()

    def _varied(self) -> list[str]:
        return [row.field.value() for row in self.rows]

    def _offered(self) -> dict[str, dict[str, Any]]:
        return self.draft.fields_beside([row.text for row in self.rows])

    def _check(self) -> None:
        how = self.how.value()
        entered = Entered(
            [row.text for row in self.rows], how, self.figure.value(), self.seeds.value(),
            None if how == "grid" else self.trials.value(), self.fixed.changes, self.early.value(),
        )  # fmt: skip
        if (checked := self.draft.check_at_once(entered)) is not None:
            self._show(checked)
            return
        self.summary.setText(CHECKING)
        self._checking.ask("Check the sweep", partial(self.draft.check, entered), self._show, quiet=True)

    def _show(self, checked: Checked) -> None:
        self.plan = plan = checked.plan
        if plan is not None and plan.how == "grid":
            self.trials.set_value(plan.trials)
        self.summary.setText(checked.todo if plan is None else self.draft.cost(plan, self.where.value()))
        for row in self.rows:
            row.show_problem(checked.errors.get(row.field.value(), ""))
        others = checked.others(self._varied())
        self.problem.setText(others)
        self.problem.setVisible(bool(others))
        optimistic = [objective.OPTIMISTIC] if objective.reported(self.figure.value()) else []
        remarks = optimistic if plan is None else plan.remarks
        self.warning.setText(" ".join(remarks))
        self.warning.setVisible(bool(remarks))
        self.start.setEnabled(plan is not None)
        self.start.setToolTip(plain_tip("" if plan else checked.todo or "Something is wrong with the values."))
        if self._forbidden:
            self._show_forbidden()

    def _show_forbidden(self) -> None:
        self.problem.setText(self._forbidden)
        self.problem.show()
        self.start.setEnabled(False)
        self.start.setToolTip(plain_tip(self._forbidden))
