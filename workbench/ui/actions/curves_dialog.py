"""The dialog "Import curves": a folder of TensorBoard, or a table, and a name."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from workbench.problem import Problem
from workbench.ui.actions.curves import import_curves
from workbench.ui.state.process_work import ProcessWork
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button, button_row
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.fields.editors import PathEditor
from workbench.ui.widgets.labels import label, restyle
from workbench.ui.widgets.scrolled import ScrolledPart

WIDTH = 640  # px at 100% text
HELP = (
    "A folder of TensorBoard's event files, of one run or of many in folders below it; a CSV file with a column step "
    "or epoch, such as W&B's export of a chart; or a folder of these"
)
ABOUT = (
    "Runs of other programs become ended runs that have curves alone: no evaluation, map or settings. Import the same "
    "again for what is new in it."
)


class CurvesDialog(MainButtonDialog):
    """Stays open until the runs are there, and shows what is wrong with the files."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Import curves")
        self._session = session
        self._work: ProcessWork | None = None
        self.source = PathEditor("any", [])
        self.name = QLineEdit(placeholderText="That of the folder or file; of several runs it stands before each name")
        self.state = label(ABOUT, "muted", wrap=True)
        self.cancel, self.start = button("Cancel"), button("Import", "download-simple", "primary")
        self.main = self.start
        self._build()
        self.source.edited.connect(self._check)
        self.start.clicked.connect(self._start)
        self.cancel.clicked.connect(self.reject)
        self._check()

    def _build(self) -> None:
        fields = QWidget()
        form = QFormLayout(fields)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(4)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.source.setAccessibleName("Curves")
        self.source.setAccessibleDescription(HELP)
        self.name.setAccessibleName("Name")
        form.addRow("Curves", self.source)
        form.addRow("", label(HELP, "caption", wrap=True))
        form.addRow("Name", self.name)
        in_column(
            ScrolledPart(fields), self.state, 1, button_row(self.cancel, self.start), on=self, margins=16, spacing=8
        )
        open_at(self, self._session.theme.px(WIDTH), self.sizeHint().height())

    def reject(self) -> None:
        """Close the dialog and cancel the import."""
        if self._busy():
            assert self._work is not None
            self._work.cancel()
        super().reject()

    def _busy(self) -> bool:
        return self._work is not None and not self._work.over

    def _check(self) -> None:
        self.start.setEnabled(bool(self.source.value()) and not self._busy())
        if self.state.property("role") == "error":
            self._say(ABOUT, "muted")

    def _start(self) -> None:
        source = Path(self.source.value()).expanduser()
        self._say("Importing…", "muted")
        self._work = import_curves(
            self._session, source, self.name.text().strip(), self.accept, self._refused, self._ended
        )
        self._check()

    def _ended(self) -> None:
        """The import was cancelled, here or in the Activity panel."""
        self._say(ABOUT, "muted")
        self._check()

    def _refused(self, problem: Problem) -> None:
        self._ended()
        self._say(str(problem), "error")

    def _say(self, text: str, role: str) -> None:
        self.state.setText(text)
        self.state.setProperty("role", role)
        restyle(self.state)
