"""The files of the last export of a report: their names, and buttons to open them."""

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from workbench.ui.style.path_words import COPY_PATH, copied, copy_words
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import ElidedLabel


class WrittenFiles(QWidget):
    """Hidden until something was written."""

    def __init__(self) -> None:
        super().__init__()
        self._files: list[Path] = []
        self.names = ElidedLabel("", "right", Qt.TextElideMode.ElideMiddle)
        self.open_file = button("Open report", kind="quiet")
        self.open_folder = button("Open folder", kind="quiet")
        self.copy_path = button(COPY_PATH, kind="quiet")
        in_column(self.names, self.open_file, self.open_folder, self.copy_path, on=self, spacing=8)
        self.open_file.clicked.connect(self._open_file)
        self.open_folder.clicked.connect(self._open_folder)
        self.copy_path.clicked.connect(self._copy_path)

    def show_files(self, files: list[Path], words: str) -> None:
        """Show these, the first of which is opened, with words about them; none hides all."""
        self._files = files
        self.names.setText(words)
        if files:
            copy, tip = copy_words(files[0])
            self.copy_path.setText(copy)
            self.copy_path.setToolTip(tip)
        self.setVisible(bool(files))

    def _open_file(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._files[0])))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._files[0].parent)))

    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(copied(self._files[0]))
