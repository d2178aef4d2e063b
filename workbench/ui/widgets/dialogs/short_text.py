"""A question for a short text, whose line takes no more characters than are stored."""

from PySide6.QtWidgets import QDialog, QInputDialog, QLineEdit, QWidget


def ask_short_text(parent: QWidget, title: str, words: str, longest: int, text: str = "") -> str | None:
    """What the user types, at most `longest` characters; None when the dialog is cancelled.

    Args:
        parent: of the dialog. title: of its window. words: above the line. longest: characters.
        text: what the line holds at first.
    """
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(words)
    dialog.setTextValue(text)  # makes the line, too
    line = dialog.findChild(QLineEdit)
    assert line is not None
    line.setMaxLength(longest)
    agreed = dialog.exec() == QDialog.DialogCode.Accepted
    typed = dialog.textValue()
    dialog.deleteLater()
    return typed if agreed else None
