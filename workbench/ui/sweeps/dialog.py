"""The sweep dialog: which fields with which values, how, how often; what it would cost; Start."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.config import BadConfig, RunConfig
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.settings.changed import changed
from workbench.sweeps import objective, starting
from workbench.sweeps.plan import DEFAULT_TRIALS, Plan, SweepPreset, planned, sweep_presets
from workbench.sweeps.proposals import HOWS
from workbench.sweeps.space import checked, fields, read, written
from workbench.ui.newest import Newest
from workbench.ui.session import Session
from workbench.ui.sweeps.fixed_line import FixedLine
from workbench.ui.sweeps.panel import show_sweeps
from workbench.ui.sweeps.parameter_row import ParameterRow
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.captions import caption
from workbench.ui.widgets.editors import ChoiceEditor, LineEditor
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.words import counted, duration

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight

WIDTH, HEIGHT = 680, 560  # px at 100% text
SETTLES_AFTER = 250  # ms without an edit
OWN = ""  # key of the entry for no paper's sweep
REPORTED = ("MAP@R", "recall@1", "P@R", "NMI")


class SweepDialog(QDialog):
    """Varies the run of the Set up page. Entries are checked on a thread: a grid may have thousands of trials.

    Args:
        session: whose workspace gets the sweep.
        config: the run, as it can start.
        preflight: what is known of its time; None before Preflight has looked.
    """

    def __init__(
        self, session: Session, config: RunConfig, preflight: "Preflight | None" = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Sweep")
        self._session, self._config, self._preflight = session, config, preflight
        self._fields = fields(config, session.catalog)
        self._presets = [entry for entry in sweep_presets() if self._fits(entry)]
        self.plan: Plan | None = None  # what would start; None while something is wrong or being checked
        self._source = ""
        self._checking = Newest(session, self)
        self.rows: list[ParameterRow] = []
        self._timer = QTimer(self, singleShot=True, interval=SETTLES_AFTER)
        self._build()
        self._connect()
        self.add_row()
        self.resize(session.theme.px(WIDTH), session.theme.px(HEIGHT))
        self._edited()

    def _build(self) -> None:
        self.preset = ChoiceEditor(
            [OWN, *(preset.key for preset in self._presets)], ["Your own", *(preset.title for preset in self._presets)]
        )
        self.preset.setAccessibleName("Values from a paper's sweep")
        self.told = label("", "muted", wrap=True)
        self.told.hide()
        self.fixed = FixedLine()
        self.how = ChoiceEditor(list(HOWS), list(HOWS.values()))
        self.trials = LineEditor("integer")
        self.trials.set_value(DEFAULT_TRIALS)
        self.seeds = LineEditor("integer")
        self.seeds.set_value(self._config.seeds)
        held_out = self._config.holds_out(self._session.catalog)
        names = [*((objective.HELD_OUT,) if held_out else REPORTED), *objective.TRAIN_SIDE]
        self.figure = ChoiceEditor(names, names)
        self.add = button("Add a parameter", "plus", "quiet")
        self.summary = label("", wrap=True)
        self.warning = label(objective.OPTIMISTIC, "warning", wrap=True)
        self.problem = label("", "error", wrap=True)
        self.cancel, self.start = button("Cancel"), button("Start the sweep", "play", "primary")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(ElidedLabel(f"Vary “{self._config.name}”", "section"))
        column.addLayout(self._choices())
        column.addWidget(self.told)
        column.addWidget(self.fixed)
        column.addWidget(
            label("Parameters: values with commas, or LOW..HIGH, then :log and points for a grid", "caption")
        )
        column.addWidget(self._parameters(), 1)
        for widget in (self.summary, self.warning, self.problem):
            column.addWidget(widget)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.start)
        column.addLayout(foot)

    def _choices(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        named = (
            ("Values from", self.preset, 0, 0), ("How", self.how, 0, 2), ("Objective", self.figure, 1, 0),
            ("Trials", self.trials, 1, 2), ("Seeds per trial", self.seeds, 1, 4),
        )  # fmt: skip
        for text, widget, row, column in named:
            if not widget.accessibleName():
                widget.setAccessibleName(text)
            grid.addWidget(caption(text, widget, ""), row, column)
            grid.addWidget(widget, row, column + 1, 1, 3 if widget is self.how else 1)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(3, 1)
        grid.setColumnStretch(5, 1)
        return grid

    def _parameters(self) -> QScrollArea:
        inside = QWidget()
        self._lines = QVBoxLayout(inside)
        self._lines.setContentsMargins(0, 0, 4, 0)
        self._lines.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self._lines.addStretch(1)
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
        self.add.clicked.connect(self._add_pressed)
        self.cancel.clicked.connect(self.reject)
        self.start.clicked.connect(self.start_sweep)
        self._timer.timeout.connect(self._check)

    # What the person does

    def add_row(self, field: str = "", values: str = "") -> ParameterRow:
        """Add a parameter; by default a number of the loss that is not varied yet, or the learning rate."""
        row = ParameterRow(self._fields, field or self._next_field())
        row.values.setText(values)
        row.edited.connect(self._changed)
        row.removed.connect(self._remove)
        self.rows.append(row)
        self._lines.insertWidget(len(self.rows) - 1, row)
        return row

    def start_sweep(self) -> None:
        """Store the sweep, start its worker and show it."""
        plan = self.plan
        if plan is None:
            return
        self.start.setEnabled(False)
        workspace = self._session.workspace

        def work(progress: Progress) -> int:
            number = starting.store(workspace, plan)
            starting.work_apart(workspace, number)
            return number

        self._session.run_in_thread("Start the sweep", work, self._started, self._not_started)

    def reject(self) -> None:
        """Close without starting anything."""
        self._forget()
        super().reject()

    def _started(self, number: int) -> None:
        self._session.notify(f"Sweep {number} is started. It goes on when this window is closed.")
        show_sweeps(self._session, self.parentWidget(), number)
        self.accept()

    def _not_started(self, problem: Problem) -> None:
        self.problem.setText(str(problem))
        self.problem.show()
        self.start.setEnabled(True)

    def _add_pressed(self) -> None:
        self.add_row().values.setFocus()
        self._changed()

    def _remove(self, row: ParameterRow) -> None:
        self.rows.remove(row)
        self._lines.removeWidget(row)
        row.deleteLater()
        self._changed()

    def _take_preset(self) -> None:
        preset = next((entry for entry in self._presets if entry.key == self.preset.value()), None)
        self.fixed.show_changes({} if preset is None else preset.changes)
        if preset is None:
            self._changed()
            return
        for row in tuple(self.rows):
            self._remove(row)
        self.preset.set_value(preset.key)
        self._source = f"Values of {preset.source}"
        self.told.setText(f"{preset.source}. {preset.summary}")
        self.told.show()
        for parameter in preset.parameters:
            self.add_row(parameter.field, written(parameter))
        self.how.set_value(preset.how)
        if preset.trials is not None:
            self.trials.set_value(preset.trials)
        self._edited()

    def take_preflight(self, found: "Preflight") -> None:
        """Take what Preflight measured meanwhile and show the time."""
        self._preflight = found
        if self.plan is not None:
            self.summary.setText(self._cost(self.plan))

    # What it would be

    def _changed(self) -> None:
        """Forget the paper: the parameters were edited."""
        self.preset.set_value(OWN)
        self._source = ""
        self.told.hide()
        self._edited()

    def _edited(self) -> None:
        self._forget()
        self.plan = None
        self.start.setEnabled(False)
        self.start.setToolTip("")
        self.trials.setEnabled(self.how.value() != "grid")
        self.fixed.show_varied(row.field.value() for row in self.rows)
        self._timer.start()

    def _forget(self) -> None:
        self._timer.stop()
        self._checking.cancel()

    @property
    def checking(self) -> bool:
        """Whether entries are still to be checked."""
        return self._timer.isActive() or self._checking.busy

    def _check(self) -> None:
        if any(row.empty for row in self.rows) or not self.rows:
            self._show("Give each parameter its values." if self.rows else "Add a parameter to vary.", None, {})
            return
        self.summary.setText("Checking every trial…")
        texts, how = [row.text for row in self.rows], self.how.value()
        numbers = {"seeds": self.seeds.value(), "trials": self.trials.value() if how != "grid" else None}
        wrong = {name: "Must be a whole number." for name, value in numbers.items() if isinstance(value, str)}
        if not wrong and not 1 <= numbers["seeds"] <= 100:
            wrong["seeds"] = "Must be 1 to 100."
        if wrong:
            self._show("", None, wrong)
            return
        config, known, metric, source = self._config, self._session.catalog, self.figure.value(), self._source
        changes = self.fixed.changes

        def work(progress: Progress) -> Plan | dict[str, str]:
            try:
                fixed = changed(config, changes, known, source)
                return planned(
                    fixed, [read(text) for text in texts], how, known, metric=metric, source=source, **numbers
                )
            except BadConfig as problem:
                return problem.errors

        self._checking.ask("Check the sweep", work, self._checked, quiet=True)

    def _checked(self, outcome: Plan | dict[str, str]) -> None:
        if isinstance(outcome, Plan):
            self._show(self._cost(outcome), outcome, {})
        else:
            self._show("", None, outcome)

    def _show(self, summary: str, plan: Plan | None, errors: dict[str, str]) -> None:
        self.plan = plan
        if plan is not None and plan.how == "grid":
            self.trials.set_value(plan.trials)
        self.summary.setText(summary)
        varied = {row.field.value() for row in self.rows}
        for row in self.rows:
            row.show_problem(errors.get(row.field.value(), ""))
        others = [f"{field}: {sentence}" for field, sentence in errors.items() if field not in varied]
        self.problem.setText(" ".join(others))
        self.problem.setVisible(bool(others))
        self.warning.setVisible(objective.reported(self.figure.value()))
        self.start.setEnabled(plan is not None)
        self.start.setToolTip("" if plan is not None else summary or "Something is wrong with the values.")

    def _cost(self, plan: Plan) -> str:
        per_trial = len(folds_and_seeds.children(plan.config))
        times = f" × {per_trial} {'run' if per_trial == 1 else 'runs'} per trial" if per_trial > 1 else ""
        runs = counted(plan.runs, "run")
        text = f"{counted(plan.trials, 'trial')}{times} = {runs}" if times else runs
        if self._preflight is None:
            return f"{text}. Their time is known once Preflight has looked at the run."
        seconds = self._preflight.seconds / len(folds_and_seeds.children(self._config)) * plan.runs
        varied = any(
            parameter.field.startswith(("training.", "backbone.", "dataset.")) for parameter in plan.parameters
        )
        about = ", if all take as long as the run on Set up" if varied else ""
        return f"{text}, about {duration(seconds)} on {self._preflight.device}{about}, evaluations left out."

    def _fits(self, preset: SweepPreset) -> bool:
        try:
            config = changed(self._config, preset.changes, self._session.catalog, preset.key)
            checked(preset.parameters, config, self._session.catalog)
        except BadConfig:
            return False
        return True

    def _next_field(self) -> str:
        taken = {row.field.value() for row in self.rows}
        numbers = [name for name, facts in self._fields.items() if facts.get("type") in ("number", "integer")]
        first = [name for name in numbers if name.startswith("loss.")] + ["training.lr", *numbers]
        return next(name for name in first if name not in taken)
