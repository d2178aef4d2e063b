"""What the dialogs of imports share: fields, a line that says what happens, and Cancel while a process works."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QWidget

from workbench.problem import Problem
from workbench.ui.state.process_work import ProcessWork
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button, button_row
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.labels import label, restyle
from workbench.ui.widgets.scrolled import ScrolledPart

WIDTH = 640  # px at 100% text


class ImportingDialog(MainButtonDialog):
    """A base class: stays open until the runs are there, and shows what is wrong with the files.

    A subclass adds rows to `form`, begins a `ProcessWork` in `_begin` and enables `start` in `_check`.

    Args:
        title: of the window.
        about: what the line above the buttons says at first.
    """

    def __init__(self, session: Session, title: str, about: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self._session, self._about = session, about
        self._work: ProcessWork | None = None
        self._fields = QWidget()
        self.form = QFormLayout(self._fields)
        self.form.setContentsMargins(0, 0, 0, 0)
        self.form.setHorizontalSpacing(16)
        self.form.setVerticalSpacing(4)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.state = label(about, "muted", wrap=True)
        self.cancel, self.start = button("Cancel"), button("Import", "download-simple", "primary")
        self.main = self.start
        self.start.clicked.connect(self._start)
        self.cancel.clicked.connect(self.reject)

    def _open(self) -> None:
        """Lay out the rows that are in the form, and choose the first size."""
        foot = button_row(self.cancel, self.start)
        in_column(ScrolledPart(self._fields), self.state, 1, foot, on=self, margins=16, spacing=8)
        open_at(self, self._session.theme.px(WIDTH), self.sizeHint().height())
        self._check()

    def _begin(self) -> ProcessWork | None:
        """Begin the import; None where nothing can be imported."""
        raise NotImplementedError

    def _check(self) -> None:
        """Say what is wrong with the fields, and offer to import where nothing is."""
        raise NotImplementedError

    def reject(self) -> None:
        """Close the dialog and cancel the import."""
        if self._work is not None and self._busy():
            self._work.cancel()
        super().reject()

    def _busy(self) -> bool:
        return self._work is not None and not self._work.over

    def _start(self) -> None:
        self._say("Importing…", "muted")
        self._work = self._begin()
        self._check()

    def _ended(self) -> None:
        """The import has ended, or was cancelled in the Activity panel."""
        self._say(self._about, "muted")
        self._check()

    def _refused(self, problem: Problem) -> None:
        self._ended()
        self._say(str(problem), "error")

    def _forget_error(self) -> None:
        if self.state.property("role") == "error":
            self._say(self._about, "muted")

    def _say(self, text: str, role: str) -> None:
        self.state.setText(text)
        self.state.setProperty("role", role)
        restyle(self.state)
