"""The dialog "Import curves": a folder of TensorBoard, or a table, and a name."""

from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.files import typed_path
from workbench.ui.actions.exchange.curves import import_curves
from workbench.ui.actions.exchange.importing import ImportingDialog
from workbench.ui.state.process_work import ProcessWork
from workbench.ui.state.session import Session
from workbench.ui.widgets.fields.editors import PathEditor
from workbench.ui.widgets.labels import label

HELP = (
    "Event files of TensorBoard, or CSV files with a column step or epoch, such as a chart that W&B exported or "
    "Lightning's metrics.csv: one file, or a folder with one run or with many in folders below it"
)
ABOUT = (
    "Runs of other programs are added as ended runs with curves only: no evaluation, map or settings. Import the same "
    "folder or file again to add its new points."
)


class CurvesDialog(ImportingDialog):
    """Stays open until the runs are there, and shows what is wrong with the files."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, "Import curves", ABOUT, parent)
        self.source = PathEditor("any", [])
        self.name = QLineEdit(
            placeholderText="That of the folder or file; for several runs, the first part of each name"
        )
        self.source.setAccessibleName("Curves")
        self.source.setAccessibleDescription(HELP)
        self.name.setAccessibleName("Name")
        self.form.addRow("Curves", self.source)
        self.form.addRow("", label(HELP, "caption", wrap=True))
        self.form.addRow("Name", self.name)
        self.source.edited.connect(self._check)
        self._open()

    def _check(self) -> None:
        self.start.setEnabled(bool(self.source.value()) and not self._busy())
        self._forget_error()

    def _begin(self) -> ProcessWork:
        source = typed_path(self.source.value())
        name = self.name.text().strip()
        return import_curves(self._session, source, name, self.accept, self._refused, self._ended)
