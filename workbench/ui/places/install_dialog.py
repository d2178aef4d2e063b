"""Installs Workbench at a place: the steps are shown first, then carried out on a thread, with what they say."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QWidget

from workbench.places import installing
from workbench.places.launching import host_of
from workbench.places.place import Place
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.activity import ActivityItem
from workbench.ui.state.background.tasks import Task, heard_by
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.fields.editors import PathEditor
from workbench.ui.widgets.labels import ElidedLabel, label

WIDTH, HEIGHT = 640, 400  # px at 100% text
WHEEL = "Wheel on this machine (empty: the published package of this version)"
WHEELS = "Folder there of all wheels (empty: pip uses its index)"


class InstallDialog(QDialog):
    """The plan for one place. It changes with the wheel; Install carries out what is shown.

    Args:
        session: does the work.
        place: as it is described in the dialog of places now; it need not be stored.
    """

    installed = Signal()

    def __init__(self, session: Session, place: Place, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Install Workbench at {place.name}")
        self._session, self._place = session, place
        self._plan: installing.Plan | None = None
        self._task: Task | None = None
        self.wheel = PathEditor("file", ())
        self.wheel.setAccessibleName(WHEEL)
        self.wheels = QLineEdit()
        self.wheels.setAccessibleName(WHEELS)
        self.steps = QPlainTextEdit(readOnly=True)
        self.steps.setAccessibleName("Steps")
        self.now = ElidedLabel("", "muted")
        self.problem = label("", "error", wrap=True)
        self.copy, self.cancel = button("Copy steps", "copy"), button("Close")
        self.install = button("Install", "download-simple", "primary")
        head = label(f"At {place.name}, in your home folder:", "section")
        foot = in_row(self.copy, 1, self.cancel, self.install, spacing=8)
        in_column(
            label(WHEEL, "caption", wrap=True), self.wheel, label(WHEELS, "caption", wrap=True), self.wheels, head,
            (self.steps, 1), label(installing.NOTE, "caption", wrap=True),
            self.now, self.problem, foot, on=self, margins=16, spacing=8,
        )  # fmt: skip
        open_at(self, session.theme.px(WIDTH), session.theme.px(HEIGHT))
        self.wheel.edited.connect(self._show_plan)
        self.wheels.textEdited.connect(self._show_plan)
        self.copy.clicked.connect(self._copy)
        self.cancel.clicked.connect(self.reject)
        self.install.clicked.connect(self._install)
        self._show_plan()

    def done(self, result: int) -> None:
        """Close; an installation that is under way is cancelled. The steps that it completed are not undone."""
        if self._task is not None:
            self._task.cancel()
        super().done(result)

    def _show_plan(self) -> None:
        wheel = self.wheel.value()
        try:
            if wheel and not Path(wheel).is_file():
                raise Problem(f"There is no file {wheel}.")
            file = Path(wheel) if wheel else None
            self._plan = installing.plan(self._place, wheel=file, wheels=self.wheels.text().strip())
        except Problem as problem:
            self._plan = None
            self._show_problem(str(problem))
        else:
            self._show_problem("")
        self.steps.setPlainText("\n".join(self._plan.lines()) if self._plan is not None else "")
        for needs_plan in (self.copy, self.install):
            needs_plan.setEnabled(self._plan is not None)

    def _show_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.steps.toPlainText())

    def _install(self) -> None:
        plan = self._plan
        if plan is None:
            return
        for control in (self.install, self.wheel, self.wheels):
            control.setEnabled(False)
        self.install.setText("Installing…")
        self.now.setText("")
        self._show_problem("")

        def work(progress: Progress) -> None:
            lines = [""]

            def say(line: str) -> None:
                lines.append(line)
                progress(line, 0, 0)

            host = host_of(self._place, lambda: heard_by(progress, lines[-1])())
            installing.carry_out(plan, host, say)

        self._task = self._session.run_in_thread(
            f"Installing Workbench at {self._place.name}",
            work,
            self._installed,
            self._failed,
            cancelled=self._cancelled,
            lasting=True,
        )
        if self._task.item is not None:
            self._task.item.changed.connect(self._show_now)

    def _show_now(self, item: ActivityItem) -> None:
        """What is being done, or the newest line that it printed."""
        self.now.setText(item.now.text if item.state == "working" else "")

    def _installed(self, _: None) -> None:
        self.installed.emit()
        self.accept()

    def _cancelled(self) -> None:
        self._failed(Problem("The installation was cancelled.", kept="The steps that it completed are not undone."))

    def _failed(self, problem: Problem) -> None:
        for control in (self.install, self.wheel, self.wheels):
            control.setEnabled(True)
        self.install.setText("Install")
        self.now.setText("")
        self._show_problem(str(problem))
