"""The question where a file is to be saved: it begins in the folder that was used last, and adds the ending."""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.ui.preferences import Preferences
from workbench.ui.state.session import Session

LONGEST = 60  # letters of a name that is offered
FOLDER = "save_folders"  # what the preferences remember it as
Content = Callable[[], bytes | str]  # makes what is written, on a thread
Make = Callable[[], Content]  # on the window's thread, once the file is chosen
Wish = Callable[[Session], object]  # what a part of a page that has no session wants of it


def file_name(title: str) -> str:
    """The name that is offered for a file with this title, without an ending: its words in small letters."""
    words = "".join(letter if letter.isalnum() else " " for letter in title.lower()).split()
    return "-".join(words)[:LONGEST]


def ask_file(
    parent: QWidget | None, preferences: Preferences, title: str, name: str, kinds: Mapping[str, str]
) -> tuple[Path, bool] | None:
    """Ask for a file; None where the person cancels.

    Args:
        title: of the dialog.
        name: that is offered, with its ending.
        kinds: what can be written, by ending in lower case: {".csv": "CSV"}.

    Returns:
        The path, with one of the endings, and whether a file that is there may be replaced: the dialog asked about the
        name as it was typed, not about one that got its ending here.
    """
    folder = preferences.newest(FOLDER) or Path.home()
    filters = {f"{words} (*{ending})": ending for ending, words in kinds.items()}
    typed, kind = QFileDialog.getSaveFileName(parent, title, str(folder / name), ";;".join(filters))
    if not typed:
        return None
    path = Path(typed)
    preferences.remember(FOLDER, path.parent)
    if path.suffix.lower() in kinds:
        return path, True
    ending = filters.get(kind, next(iter(kinds)))
    return path.with_name(path.name + ending), False


def copy_text(text: str, what: str, fulfil: Callable[[Wish], object]) -> None:
    """Copy a text and have the session say so of `what`, as "The table"."""
    QGuiApplication.clipboard().setText(text)
    fulfil(lambda session: session.mention(f"{what} was copied."))


def ask_and_save(
    session: Session, parent: QWidget | None, what: str, name: str, kinds: Mapping[str, tuple[str, Make]]
) -> None:  # fmt: skip
    """Ask for a file and write it on a thread; the message bar says where it is, or why it could not be written.

    Args:
        what: is saved, as "the table".
        name: that is offered, with its ending.
        kinds: what each kind of file is called, and what makes it, by ending in lower case.
    """
    titles = {ending: words for ending, (words, _) in kinds.items()}
    chosen = ask_file(parent, session.preferences, f"Save {what}", name, titles)
    if chosen is not None:
        path, may_replace = chosen
        session.save_file(what, path, kinds[path.suffix.lower()][1](), may_replace=may_replace)
