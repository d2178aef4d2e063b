"""The Problems of a database that cannot be used: one sentence for each cause."""

from pathlib import Path

from workbench.files import NoSpace
from workbench.files.room import is_full
from workbench.problem import Problem

LEAST_ROOM = 64 << 10  # bytes, twice the index of the log: SQLite calls a disk without room for it broken, not full
IN_FOLDERS = "The runs' folders beside it hold every curve, evaluation and checkpoint."


def explain(error: Exception, path: Path) -> Problem:
    """The Problem for an error of SQLite; the only place that decides it."""
    said = str(error).lower()
    if "disk i/o" in said and not is_full(path.parent, LEAST_ROOM):
        return Problem(
            f"The disk of {path.parent} could not be read or written.",
            kept=IN_FOLDERS,
            todo="Check that the disk is connected and has space for you, then open the workspace again.",
        )
    if "full" in said or "disk i/o" in said:
        return Full(path)
    if "locked" in said or "busy" in said:
        if is_full(path.parent):
            return Busy(
                f"The disk of {path.parent} is full, and the program that noticed it keeps the workspace locked.",
                todo="Free some space, then try again in a moment; or close that program.",
            )
        return Busy(f"The workspace {path.parent} is being written by another program.", todo="Try again in a moment.")
    if "readonly" in said or "read-only" in said or "unable to open" in said:
        return Problem(
            f"The workspace {path.parent} cannot be written.",
            kept="It was not changed.",
            todo="Choose a folder where you may write.",
        )
    if "locking protocol" in said:
        return Problem(
            f"The disk of {path.parent} has no locks that the database can use.",
            kept="It was not changed.",
            todo="Put the workspace on a disk of this machine; runs may write folders here (`run --folder`).",
        )
    if "malformed json" in said:
        return Problem(
            f"A row of the workspace {path.parent} could not be read ({error}).", kept="The others are kept."
        )
    broken = ("malformed", "damaged", "not a database", "unsupported file format", "could not decode")
    if any(words in said for words in broken):
        return Damaged(path)
    return Problem(f"The workspace {path.parent} could not be read ({error}).")


class Full(NoSpace):
    """The disk of `folder` has no room for a change; `kept` and `todo` are those of a change that was rolled back."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        super().__init__(
            f"The disk of {path.parent} is full.",
            kept="Everything written before is kept.",
            todo="Free some space and continue.",
        )


class Busy(Problem):
    """Another program holds the database for longer than a writer waits."""


class Damaged(Problem):
    """The database is damaged; the run folders are not. `detail` names what is damaged."""

    def __init__(self, path: Path, detail: str = "", how: str = "is damaged") -> None:
        super().__init__(
            f"The database of the workspace {path.parent} {how}" + (f" ({detail})." if detail else "."),
            kept=IN_FOLDERS,
            todo="Run `workbench doctor --repair` on it to rebuild the database from them.",
        )


class Missing(Problem):
    """A workspace without its database: a new, empty one would hide the existing runs."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The database of the workspace {path.parent} is missing, but the folders of its runs are there.",
            kept="They hold every curve, evaluation and checkpoint.",
            todo="Put it back, or run `workbench doctor --repair` on it to rebuild it from them.",
        )


class Gone(Problem):
    """The database was deleted, moved away or replaced while it was open; perhaps with the folder or its disk."""

    def __init__(self, path: Path) -> None:
        if path.parent.joinpath("runs").is_dir():
            super().__init__(
                f"The database {path} was deleted or replaced while it was in use.",
                kept="The runs' folders beside it are kept, with every curve, evaluation and checkpoint.",
                todo="Put it back, or rebuild it from them: `workbench doctor --repair`.",
            )
        else:
            super().__init__(
                f"The workspace {path.parent} no longer exists: it was deleted or moved, or its disk is gone.",
                kept="Nothing is written in its place.",
                todo="Put it back where it was, or connect its disk, and continue.",
            )


def opened_alone(folder: Path) -> Problem:
    """What to say of a workspace that was opened on a disk without a free byte (`Store.alone`)."""
    return Problem(
        f"The disk of {folder} is full: the workspace can be read, and runs can be deleted permanently.",
        kept="Nothing else can be stored, and other programs cannot open it.",
        todo="Free some space: a few seconds later everything works again.",
    )


def no_workspace(path: Path) -> Problem:
    """The Problem for a folder without a database."""
    return Problem(f"{path.parent} is not a workspace: it holds no {path.name}.", todo="Choose or make another.")
