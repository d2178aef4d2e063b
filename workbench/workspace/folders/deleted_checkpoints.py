"""Checkpoints that a person deleted to free space: which, and when, in a file of the run's folder.

The file stays with the folder, so that a repair, an export and another workspace know that nothing is missing. A
checkpoint that is there again counts, whatever the file says.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, RootModel, ValidationError

from workbench import files
from workbench.events import CHECKPOINTS
from workbench.problem import Problem
from workbench.workspace.folders import journal
from workbench.workspace.folders.journal import Text, Whole
from workbench.workspace.paths import is_file, opened, regular

NAME = "deleted-checkpoints.json"
LARGEST = 1 << 16  # bytes
START_AGAIN = "Bring them back from an export or a backup, or start a new run of its config."
MISSING = "its checkpoints are missing"


class CannotGoOn(Problem):
    """A run whose checkpoints are gone: anew from the beginning it would lose its curves."""


def _moment(text: str) -> str:
    """Raises ValueError for what is no moment, or one of which no day can be named."""
    try:
        datetime.fromisoformat(text).astimezone()
    except (OverflowError, OSError) as error:
        raise ValueError(str(error)) from None
    return text


class Deleted(BaseModel):
    """A checkpoint that was deleted."""

    at: Annotated[Text, Field(max_length=40), AfterValidator(_moment)]  # ISO 8601
    bytes: Annotated[Whole, Field(ge=0)] = 0
    blake2b: Annotated[Text, Field(max_length=64)] = ""  # of the file, where it was known

    @property
    def day(self) -> str:
        """The day by the clock here: "2026-11-29"."""
        return datetime.fromisoformat(self.at).astimezone().date().isoformat()


class _Record(RootModel[dict[Literal["last.pt", "best.pt"], Deleted]]):
    """The content of the file, by the names of checkpoints."""


def read(folder: Path) -> dict[str, Deleted]:
    """What was deleted of a run, by the names of its checkpoints; nothing where the file cannot be read."""
    try:
        if not regular(folder / NAME).exists():
            return {}
        with opened(folder / NAME) as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            return {}
        return {str(name): deleted for name, deleted in _Record.model_validate_json(content).root.items()}
    except (OSError, Problem, ValidationError):
        return {}


def record(folder: Path, deleted: Mapping[str, Deleted]) -> None:
    """Note that these checkpoints are deleted, beside those that were before. Raises Problem if the disk refuses it."""
    with files.atomic_write(regular(folder / NAME)) as file:
        file.write(_Record.model_validate(read(folder) | dict(deleted)).model_dump_json().encode())


def forget(folder: Path) -> None:
    """Forget what was deleted: its checkpoints are wanted again. Raises Problem for a link."""
    regular(folder / NAME).unlink(missing_ok=True)


def carry_over(source: Path, home: Path) -> None:
    """Note in the folder of an imported run what its own folder says was deleted, unless it is there all the same.

    Raises Problem as `record`.
    """
    known = read(home)
    if new := {name: one for name, one in read(source).items() if name not in known and not is_file(source / name)}:
        record(home, new)


def was_deleted(folder: Path, name: str, digest: str) -> bool:
    """Whether the checkpoint of that hash was deleted, so that it is not to come back by itself."""
    deleted = read(folder).get(name)
    return deleted is not None and deleted.blake2b in ("", digest)


def day_of_one(folder: Path, digest: str) -> str:
    """The day when the checkpoint of that hash was deleted; empty if it was not, or if one of its name is there."""
    gone = {name: one for name, one in read(folder).items() if not is_file(folder / name)}
    return next((one.day for name, one in gone.items() if was_deleted(folder, name, digest)), "")


def day_of(folder: Path, names: Collection[str] = tuple(CHECKPOINTS.values())) -> str:
    """The day when the last of these checkpoints was deleted, if none of them is there; else empty."""
    deleted = [one for name, one in read(folder).items() if name in names]
    there = any(is_file(folder / name) for name in names)
    return "" if there else max((one.day for one in deleted), default="")


def stands_still(folder: Path) -> str:
    """The day when the checkpoint was deleted from which the run would go on; empty for any other run."""
    return day_of(folder, [CHECKPOINTS["last"]])


def lack(run_id: int, folder: Path) -> str:
    """A sentence on a run without a checkpoint, which says when they were deleted."""
    day = day_of(folder)
    return f"Run {run_id} has no checkpoint: its checkpoints were deleted on {day}." if day else (
        f"Run {run_id} has no checkpoint."
    )  # fmt: skip


def why_it_cannot_go_on(folder: Path, *, saved: bool = False) -> str:
    """Why a run that has saved a checkpoint cannot be resumed, as half a sentence; empty if nothing is against it.

    Args:
        saved: whether the database knows of a checkpoint; else the journal is asked.

    Raises:
        Problem: the journal is a link, or no file, or cannot be read.
    """
    if day := stands_still(folder):
        which = "its last checkpoint was" if is_file(folder / CHECKPOINTS["best"]) else "its checkpoints were"
        return f"{which} deleted on {day}"
    if any(is_file(folder / name) for name in CHECKPOINTS.values()):
        return ""
    try:
        return MISSING if saved or journal.has_saved(folder) else ""
    except OSError as error:
        what = f"{folder / journal.NAME} cannot be read ({error.strerror or type(error).__name__})."
        raise Problem(what, kept="Nothing was changed.") from error


def refuse_to_go_on(run: str, folder: Path, *, saved: bool = False) -> None:
    """Raise CannotGoOn for a run whose last checkpoint was deleted, or that has none of those that it saved.

    From the best one, or from the beginning, it would lose its later curves.

    Args:
        run: its number or the name of its folder, for the sentence.
        saved: as for `why_it_cannot_go_on`.
    """
    if not (why := why_it_cannot_go_on(folder, saved=saved)):
        return
    missing = why == MISSING
    raise CannotGoOn(
        f"Run {run} cannot continue: {why}.",
        kept="Its curves and evaluations are kept.",
        todo=f"Put them back into {folder}, or start a new run of its config." if missing else START_AGAIN,
    )
