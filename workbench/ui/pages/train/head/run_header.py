"""The head of the Train page: the run, its progress and speed, and the actions on it."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from workbench.config import IMPORTED
from workbench.control import Control
from workbench.entries.catalog import Catalog
from workbench.names import visible_name
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.style.icons import icon
from workbench.ui.style.words import (
    PAUSE,
    QUEUE_AGAIN,
    RESUME,
    STATES,
    STOP,
    can_pause,
    can_stop,
    epoch_at_work,
    is_ending_now,
    where,
    work_word,
)
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import ElidedLabel, IconLabel, label, plain_tip, restyle
from workbench.workspace.rows import Run
from workbench.workspace.run_names import names_of, network_tested

PARTS = 1000  # of the progress bar
ELSEWHERE = "This run belongs to another program: stop it there."
IN_LINE = "It is queued and has not started."
RESUMES = "It is being put into the queue."
IN_TRASH = "In the trash"
LEADS_ON = ("map", "retrieval", "report")  # pages of what an ended run found


class RunHeader(QWidget):
    """Shows a row of the workspace; signals which button was pressed and does nothing itself."""

    pause_pressed = Signal(bool)  # whether it is to pause, or to go on, as the button says
    stop_pressed = Signal()
    end_pressed = Signal()
    resume_pressed = Signal()
    bring_back_pressed = Signal()
    edit_pressed = Signal()
    page_chosen = Signal(str)  # one of LEADS_ON
    focus_left = Signal()  # the button that had the focus cannot be pressed any more

    def __init__(self) -> None:
        super().__init__()
        self.name = ElidedLabel("", "title", Qt.TextElideMode.ElideMiddle)
        self.state_icon = IconLabel()
        self.state = ElidedLabel("", "muted")
        self.about = ElidedLabel("", "muted")
        self.about.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.epoch = label("")
        self.epoch.setAccessibleName("Epoch")
        self.bar = QProgressBar(maximum=PARTS, textVisible=False)
        self.bar.setAccessibleName("Progress of the run")
        self.pause = button(PAUSE, "pause")
        self.stop = button(STOP, "stop")
        self.end = button("End now…", "x-circle", "danger")
        self.resume = button(RESUME, "play")
        self.bring_back = button("Bring back…", "download-simple")
        self.bring_back.setAccessibleName("Bring back checkpoints…")
        self.bring_back.setToolTip("Its checkpoints, from an export as a run folder or a copy of the workspace")
        self.edit = button("Edit settings", "sliders")
        self.bring_back.hide()  # only a run that lost its checkpoints has it
        infos = {info.name: info for info in PAGES}
        self.look = {name: button(infos[name].title, infos[name].icon, "quiet") for name in LEADS_ON}
        self._build()
        self.pause.clicked.connect(lambda: self.pause_pressed.emit(self.pause.text() == PAUSE))
        self.stop.clicked.connect(self.stop_pressed)
        self.end.clicked.connect(self.end_pressed)
        self.resume.clicked.connect(self.resume_pressed)
        self.bring_back.clicked.connect(self.bring_back_pressed)
        self.edit.clicked.connect(self.edit_pressed)
        for name, widget in self.look.items():
            widget.setAccessibleName(f"Show this run on the {widget.text()} page")
            widget.setToolTip(f"Show this run on the {widget.text()} page")
            widget.clicked.connect(partial(self._look_at, name))

    def _build(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.name, 1)
        for widget in (self.pause, self.stop, self.end, self.resume, self.bring_back, self.edit, *self.look.values()):
            first.addWidget(widget)
        second.setSpacing(4)
        second.addWidget(self.state_icon)
        second.addWidget(self.state, 1)
        second.addSpacing(16)
        second.addWidget(self.about, 1)
        second.addSpacing(16)
        second.addWidget(self.epoch)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.bar)

    def show_run(
        self, run: Run, control: Control | None, can_resume: bool, known: Catalog, away: bool = False,
        why_not: str = "", *, resumes: bool = False,
    ) -> None:  # fmt: skip
        """The run as it is, or as it was last read if the workspace is away.

        `control` is None if this window cannot steer the run; `known` has the titles of entries; `why_not` is a
        sentence on why a run that ended early cannot be resumed; one that `resumes` is being queued.
        """
        _, picture, role = STATES.get(run.status, ("", "circle", "muted"))
        word = work_word(run, control, away)
        if word == STATES["waiting"][0] and run.problem:
            word = "Waiting for you"
        self.name.setText(run.name)
        self.state_icon.show_icon(picture, role)
        state_role = "error" if run.status == "failed" else "muted"
        if self.state.property("role") != state_role:
            self.state.setProperty("role", state_role)
            restyle(self.state)
        state = ": ".join(part for part in (word, _after_word(run)) if part)
        if run.trashed is not None:  # another window may have moved it there while it is shown
            state = f"{IN_TRASH} · {state}"
        self.state.setText(f"{state.rstrip('.')}. {why_not}" if why_not else state)
        self.about.setText(" · ".join(filter(None, dict.fromkeys(names_of(known, run)))))  # an own loop may tell little
        whole = run.problem or run.unread or run.loss == IMPORTED or run.curves_of  # sentences need the whole line
        self.about.setVisible(not whole)
        counted = run.epochs and run.loss != IMPORTED  # the epochs of a test are those of another run
        self.epoch.setText(f"Epoch {epoch_at_work(run)} / {run.epochs}" if counted else "")
        ended = "done" if run.status == "done" else ""
        if self.bar.property("state") != ended:
            self.bar.setProperty("state", ended)
            restyle(self.bar)
        self.bar.setVisible(not run.curves_of and (run.live or run.loss != IMPORTED))
        self.bar.setValue(round(PARTS * min(max(run.done / run.total, 0), 1)) if run.total else 0)
        self.bring_back.setVisible(bool(why_not) and run.trashed is None)
        self._enable(run, control, can_resume, resumes)

    def _enable(self, run: Run, control: Control | None, can_resume: bool, resumes: bool) -> None:
        before = self.window().focusWidget()
        self._enable_buttons(run, control, can_resume, resumes)
        if before is not None and self.isAncestorOf(before) and before is not self.window().focusWidget():
            self.focus_left.emit()  # Qt gave it to the next button, which may end the run

    def _enable_buttons(self, run: Run, control: Control | None, can_resume: bool, resumes: bool) -> None:
        steered = control is not None
        paused = control is not None and control.paused
        if self.pause.text() != (wanted := RESUME if paused else PAUSE):
            self.pause.setText(wanted)
            self.pause.setIcon(icon("play" if paused else "pause"))
        ends_now = control is not None and is_ending_now(control)
        self.pause.setEnabled(can_pause(run, control))
        stopping = ends_now or (control.stop_asked if control is not None else run.loop_asked_to_stop)
        self.stop.setText("Stopping…" if stopping else STOP if steered or not run.looks_for_stop else "Stop")
        self.stop.setEnabled(can_stop(run, control) and not stopping)
        self.end.setEnabled(steered)
        for widget in (self.pause, self.stop, self.end):
            widget.setVisible(run.live)
            waits = run.status == "queued" and not widget.isEnabled()
            widget.setToolTip(plain_tip(_of_other_program(run) if not steered else IN_LINE if waits else ""))
        if not steered and run.looks_for_stop:
            self.stop.setToolTip("The loop ends when it next checks whether it should stop; what it recorded is kept.")
        self.resume.setVisible(can_resume)
        if control is not None and not control.can_pause:
            self.pause.setToolTip("A run at another place can be stopped and resumed, but not paused.")
        self.resume.setText(QUEUE_AGAIN if run.never_began else RESUME)
        self.resume.setEnabled(not resumes)
        tip = "It starts when its turn comes" if run.never_began else "Resume from the last checkpoint"
        self.resume.setToolTip(RESUMES if resumes else tip)
        self.edit.setVisible(run.status == "failed")
        self.edit.setToolTip("Set up a run with these settings")
        for widget in self.look.values():
            widget.setVisible(not run.live and bool(run.last))

    def _look_at(self, name: str, _checked: bool = False) -> None:
        self.page_chosen.emit(name)


def _of_other_program(run: Run) -> str:
    """Why this window cannot steer a run of another program."""
    if run.looks_for_stop:
        return "Your own training loop can only be asked to stop."
    if "own_loop" in run.environment:
        return "This training loop does not check whether it should stop (stop_asked): stop it in its program."
    return ELSEWHERE


def _after_word(run: Run) -> str:
    if words := f"{'' if run.status == 'waiting' else run.problem} {run.unread}".strip():
        return words
    if run.curves_of:
        return f"curves of another program, from {visible_name(run.curves_of)}"
    if run.loss == IMPORTED and run.resumable and not run.last:
        return "its import ended before it was complete: import it again, and move this run to the trash"
    if run.tested is not None:
        return f"test of {network_tested(run)}, on other images, so there are no training curves"
    if run.loss == IMPORTED:
        return "imported embeddings, so there are no training curves"
    if run.placement is not None and run.live:
        return " · ".join(filter(None, (where(run.placement), run.phase if run.status == "running" else "")))
    if run.status == "queued":
        return "starts when the runs before it have ended"
    return run.phase if run.status == "running" else ""
