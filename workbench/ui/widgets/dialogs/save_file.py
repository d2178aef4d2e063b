"""The question where a file is to be saved: it begins in the folder that was used last, and adds the ending."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.ui.preferences import Preferences
from workbench.ui.state.background.receivers import is_there
from workbench.ui.state.session import Session

LONGEST = 60  # letters of a name that is offered
CSV = {".csv": "CSV"}
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
) -> Path | None:
    """Ask for a file; None where the person cancels.

    A name without an ending gets that of the chosen kind. Where such a file is there, it is asked for again under its
    whole name: the dialog asks about replacing a file only by the name as it is typed.

    Args:
        title: of the dialog.
        name: that is offered, with its ending.
        kinds: what can be written, by ending in lower case: {".csv": "CSV"}.
    """
    offered, words = (preferences.newest(FOLDER) or Path.home()) / name, title
    filters = {f"{kind} (*{ending})": ending for ending, kind in kinds.items()}
    while True:
        typed, kind = QFileDialog.getSaveFileName(parent, words, str(offered), ";;".join(filters))
        if not typed:
            return None
        path = Path(typed)
        if path.suffix.lower() not in kinds:
            offered = path.with_name(path.name + filters.get(kind, next(iter(kinds))))
            words = f"{title}: {offered.name} already exists"
            if os.path.exists(offered):  # False of a name that is too long, where Path.exists raises OSError
                continue
            path = offered
        preferences.remember(FOLDER, path.parent)
        return path


def copy_text(text: str, what: str, fulfil: Callable[[Wish], object]) -> None:
    """Copy a text and have the session say so of `what`, as "The table"."""
    QGuiApplication.clipboard().setText(text)
    fulfil(lambda session: session.mention(f"{what} was copied."))


def copy_picture(picture: QImage, fulfil: Callable[[Wish], object]) -> None:
    """Copy a picture and have the session say so."""
    QGuiApplication.clipboard().setImage(picture)
    fulfil(lambda session: session.mention("The picture was copied."))


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
    if (path := ask_file(parent, session.preferences, f"Save {what}", name, titles)) is None:
        return
    make = kinds[path.suffix.lower()][1]
    if is_there(make):
        session.save_file(what, path, make())
    else:
        session.notify(f"{what[:1].upper()}{what[1:]} was not saved: it was removed while the file was chosen.")
