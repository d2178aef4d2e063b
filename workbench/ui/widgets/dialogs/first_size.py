"""The size in which a dialog opens: the wanted one, or what its screen has room for."""

from PySide6.QtWidgets import QDialog

SPARE = 80  # px of the screen that the dialog's frame and the desktop's panels may take


def open_at(dialog: QDialog, width: int, height: int) -> None:
    """Give the dialog this size in pixels, or less where its screen is smaller: its last buttons must be in sight."""
    room = dialog.screen().availableGeometry()
    dialog.resize(min(width, room.width() - SPARE), min(height, room.height() - SPARE))
