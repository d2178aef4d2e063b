"""The export dialog: tick formats, choose an epoch and a folder; another process writes the files."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QWidget

from workbench.exchange.formats import FORMATS, refusal
from workbench.exchange.source import BEST, LAST, source_of
from workbench.files import typed_path
from workbench.progress import Progress
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.ui.style.tab_order import order_regions
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button, button_row
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.fields.editors import ChoiceEditor, PathEditor
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip
from workbench.ui.widgets.scrolled import ScrolledPart
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

AT_FIRST = ("config", "csv", "npy")
FOLDER = "Folder; files of an earlier export are replaced"
READ_ONLY = "Folder outside the workspace, which is read-only; files of an earlier export are replaced"
WIDTH = 700  # px at 100% text


@dataclass(frozen=True, slots=True)
class Look:
    """What can be exported of the run."""

    refused: dict[str, str]  # format -> why it cannot be made, or nothing
    best: int  # epoch of the best evaluation
    epochs: list[int]  # of all its evaluations, rising


class ExportDialog(MainButtonDialog):
    """The export formats of one run. A format that is not possible is shown with the reason."""

    def __init__(self, session: Session, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export a run")
        self._session, self._run = session, run
        self.boxes: dict[str, QCheckBox] = {}
        self.reasons = {name: label("", "muted", wrap=True) for name in FORMATS}
        self.folder = PathEditor("folder", [])
        self.folder.setAccessibleName("Folder for the files")
        self.epoch = ChoiceEditor([BEST], ["Best"])
        self.epoch.setAccessibleName("Embeddings after epoch")
        self.epoch.setMinimumContentsLength(18)  # "Epoch 0 (untrained)" is not cut off
        self.epoch.setEnabled(False)
        self.state = label("Checking what the run holds…", "muted", wrap=True)
        self.cancel, self.start = button("Cancel"), button("Export", "export", "primary")
        self.main = self.start
        self._build()
        self.start.clicked.connect(self._start)
        self.cancel.clicked.connect(self.reject)
        session.workspace_changed.connect(self.reject)  # there another run may have its number
        self.folder.edited.connect(self._check)
        self._finding = session.find_place(run.id, "export", self._take_place)
        work = partial(_look, session.workspace, run.id)
        self._task = session.run_in_thread("Reading the run", work, self._looked, self._not_looked, quiet=True)

    def _take_place(self, folder: str) -> None:
        if not self.folder.value():
            self.folder.set_value(folder)
            self._check()

    def _build(self) -> None:
        listed = QWidget()
        grid = QGridLayout(listed)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for row, (name, file_format) in enumerate(FORMATS.items()):
            box = QCheckBox(file_format.title)
            box.setToolTip(plain_tip(file_format.help))
            box.setChecked(name in AT_FIRST)
            box.setEnabled(False)
            box.toggled.connect(self._check)
            self.boxes[name] = box
            self.reasons[name].setText(file_format.help)
            grid.addWidget(box, row, 0)
            grid.addWidget(self.reasons[name], row, 1)
        title = ElidedLabel(f"Run {self._run.id}: {self._run.name}", "section", Qt.TextElideMode.ElideMiddle)
        column = in_column(title, ScrolledPart(listed), on=self, margins=16, spacing=8)
        column.addSpacing(8)
        column.addLayout(self._epochs())
        column.addSpacing(8)
        column.addWidget(label(READ_ONLY if self._session.workspace.read_only else FOLDER, "caption"))
        column.addWidget(self.folder)
        column.addWidget(self.state)
        column.addStretch(1)
        column.addLayout(button_row(self.cancel, self.start))
        order_regions([self])  # else in the order in which they were made
        self.start.setEnabled(False)
        open_at(self, self._session.theme.px(WIDTH), self.sizeHint().height())

    def _epochs(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(8)
        words = label("Embeddings after")
        words.setBuddy(self.epoch)
        line.addWidget(words)
        line.addWidget(self.epoch)
        line.addWidget(label("The exported network is always that of the best epoch", "muted", wrap=True), 1)
        return line

    def formats(self) -> list[str]:
        """The ticked formats that the run can be exported in."""
        return [name for name, box in self.boxes.items() if box.isChecked() and box.isEnabled()]

    def done(self, result: int) -> None:
        """Close; what is still read for the dialog is dropped."""
        self._task.cancel()
        self._finding.cancel()
        super().done(result)

    def _looked(self, look: Look) -> None:
        for name, why in look.refused.items():
            self.boxes[name].setEnabled(not why)
            if why:
                self.boxes[name].setChecked(False)
                self.reasons[name].setText(why)
        if look.epochs:
            self.epoch.setItemText(0, f"Best: epoch {look.best}")
            self.epoch.addItem(f"Last: epoch {look.epochs[-1]}", LAST)
            for epoch in look.epochs:
                self.epoch.addItem(f"Epoch {epoch}" if epoch else "Epoch 0 (untrained)", str(epoch))
        self.epoch.setEnabled(bool(look.epochs))
        self.state.setText("This run has not ended: its current state is exported." if self._run.live else "")
        self._check()

    def _not_looked(self, problem: Exception) -> None:
        self.state.setText(str(problem))

    def _check(self) -> None:
        self.start.setEnabled(bool(self.formats() and self.folder.value().strip()))
        self.start.setToolTip("" if self.start.isEnabled() else "Tick a format and choose a folder first")

    def _start(self) -> None:
        """Start the export; the Activity panel shows its progress and the message bar its result."""
        out = typed_path(self.folder.value().strip())
        fields = {"run": self._run.id, "formats": self.formats(), "out": str(out), "epoch": str(self.epoch.value())}
        done, notify = partial(_tell, self._session, out), self._session.notify
        process, title = process_of(self._session, "workbench.exchange.server"), f"Export run {self._run.id}"
        ProcessWork(self._session, process, title, "export", fields, done, notify, ends_process=True)
        self.accept()


def _look(workspace: Workspace, run_id: int, progress: Progress) -> Look:
    source = source_of(workspace, run_id)
    epochs = [evaluation.epoch for evaluation in workspace.evaluations(run_id)]
    best = 0 if source.evaluation is None else source.evaluation.epoch
    return Look({name: refusal(name, source) for name in FORMATS}, best, epochs)


def _tell(session: Session, out: Path, answer: dict[str, list[str]]) -> None:
    count = len(answer["files"])
    session.notify(" ".join([f"Exported {counted(count, 'file')} to {out}.", *answer["remarks"]]))
