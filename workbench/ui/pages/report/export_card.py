"""Title, formats and folder of the report, its export, and what came of it."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QProgressBar, QWidget

from workbench.reports.sections import FORMATS
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.labels import ElidedLabel, label

FORMAT_WORDS = {
    "html": ("HTML", "One file with everything inside; opens anywhere, needs no network"),
    "pdf": ("PDF", "A4 pages for print"),
    "csv": ("CSV tables", "Metrics, curves, settings and queries for a spreadsheet"),
    "latex": ("LaTeX", "Booktabs tables, and figures at column width"),
    "figures": ("Figures", "Every figure as SVG, PDF and PNG"),
}
AT_FIRST = ("html", "pdf")
MOST_TITLE = 300  # letters


class ExportCard(Card):
    """The right side of the page. It knows no run: the page fills it and listens."""

    changed = Signal()  # title, formats or folder
    export_asked = Signal()
    cancel_asked = Signal()
    browse_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._running = False
        self.title = QLineEdit()
        self.title.setAccessibleName("Title of the report")
        self.title.setMaxLength(MOST_TITLE)
        self.boxes = {key: self._box(key) for key in FORMATS}
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder for the report")
        self.browse = button("Browse…")
        self.export_button = button("Export", "export", "primary")
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Progress of the export")
        self.doing = ElidedLabel("", "caption")
        self.cancel = button("Cancel")
        self.done = ElidedLabel("", "right")
        self.path = QLineEdit(readOnly=True)
        self.path.setAccessibleName("Path of the report")
        self.open_file = button("Open file", kind="quiet")
        self.open_folder = button("Open folder", kind="quiet")
        self.copy_path = button("Copy path", kind="quiet")
        self._lay_out()
        for signal in (self.title.textChanged, self.folder.textChanged):
            signal.connect(self._say)
        self.export_button.clicked.connect(self.export_asked)
        self.cancel.clicked.connect(self.cancel_asked)
        self.browse.clicked.connect(self.browse_asked)
        self.show_nothing()

    def formats(self) -> list[str]:
        """The ticked formats."""
        return [key for key, box in self.boxes.items() if box.isChecked()]

    def out(self) -> Path | None:
        """The folder, or None when none is named."""
        text = self.folder.text().strip()
        return Path(text).expanduser() if text else None

    def obstacle(self) -> str:
        """Why nothing can be exported now; empty when it can."""
        if self._running:
            return "An export is at work"
        if not self.formats():
            return "Tick a format first"
        return "" if self.out() is not None else "Name a folder first"

    def show_nothing(self) -> None:
        """No export has been made."""
        self._show(running=False, paths=[])

    def show_running(self, text: str = "", done: int = 0, total: int = 0) -> None:
        """An export is at work; `total` 0 when its length is unknown."""
        self._show(running=True, paths=[])
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.doing.setText(text)

    def show_done(self, paths: list[Path]) -> None:
        """These files were written, the one to open first."""
        self._show(running=False, paths=paths)
        self.done.setText(f"✓ {len(paths)} {'file' if len(paths) == 1 else 'files'} written")
        self.path.setText(str(paths[0]))
        self.path.setToolTip(str(paths[0]))
        self.path.setCursorPosition(len(str(paths[0])))  # the end of a path tells most

    def _show(self, *, running: bool, paths: list[Path]) -> None:
        self._running = running
        while_running: list[QWidget] = [self.bar, self.doing, self.cancel]
        for widget in while_running:
            widget.setVisible(running)
        when_done: list[QWidget] = [self.done, self.path, self.open_file, self.open_folder, self.copy_path]
        for widget in when_done:
            widget.setVisible(bool(paths))
        self._check()

    def _say(self) -> None:
        self._check()
        self.changed.emit()

    def _check(self) -> None:
        obstacle = self.obstacle()
        self.export_button.setEnabled(not obstacle)
        self.export_button.setToolTip(obstacle or "Write the ticked formats (Ctrl+E)")

    def _box(self, key: str) -> QCheckBox:
        word, tip = FORMAT_WORDS[key]
        box = QCheckBox(word)
        box.setToolTip(tip)
        box.setChecked(key in AT_FIRST)
        box.toggled.connect(self._say)
        return box

    def _lay_out(self) -> None:
        self.body.addWidget(label("Export", "section"))
        self.body.addWidget(label("Title", "caption"))
        self.body.addWidget(self.title)
        self.body.addWidget(label("Formats", "caption"))
        for box in self.boxes.values():
            self.body.addWidget(box)
        self.body.addWidget(label("Folder", "caption"))
        self.body.addWidget(self.folder)
        self.body.addWidget(self.browse, 0, Qt.AlignmentFlag.AlignLeft)
        for each in (self.export_button, self.bar, self.doing, self.cancel, self.done, self.path):
            self.body.addWidget(each)
        for quiet in (self.open_file, self.open_folder, self.copy_path):
            self.body.addWidget(quiet, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)
