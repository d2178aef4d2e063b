"""Run folders: a run without a database, whose files any workspace can import later.

`run.json` has a unique number of the run; the rest is as in `runs/<id>` of a workspace.
"""

import os
import re
import uuid
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from workbench import __version__, files
from workbench.config import LARGEST, RunConfig
from workbench.files import locks, parts
from workbench.files.new_files import NewFiles
from workbench.jobs import command_line
from workbench.problem import Problem
from workbench.workspace.folders.dataset_copy import ExperimentCopy
from workbench.workspace.folders.journal import Text
from workbench.workspace.folders.replaying import shown
from workbench.workspace.paths import DATABASE, opened, writable
from workbench.workspace.times import now

CARD = "run.json"
LARGEST_CARD = 1 << 16  # bytes
LOCK = ".lock"
CONFIG, EXPERIMENT = "config.toml", "experiment.json"
AFTER_EPOCH = "after-epoch"  # a file that asks the run to end after its epoch, or an own loop to stop where it looks
MOST_FOLDERS = 10_000  # in a folder of run folders
MOST_ENTRIES = 100_000  # files and folders in it


class RunCard(BaseModel):
    """The content of `run.json`."""

    run: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]  # unique in the world
    config: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]  # blake2b of config.toml
    created: Annotated[Text, Field(max_length=40)]
    workbench: Annotated[Text, Field(max_length=40)] = ""


class Unfinished(Problem):
    """A folder whose first files are not complete yet, as while it is copied."""


def make(folder: Path, config: RunConfig, experiment: ExperimentCopy | None = None) -> None:
    """Create a new run folder: its config, perhaps its experiment, and finally `run.json`.

    What a process left that was killed while it made the same folder is replaced. Of a failure no new file stays.

    Raises:
        Problem: the folder is not empty, cannot be written, or another process is making it.
    """
    new = NewFiles()
    for name in (LOCK, EXPERIMENT, CONFIG, CARD):
        new.add(folder / name)
    with NewFiles() as new_folders:
        new_folders.add(folder)
        files.make_folder(folder)
        check_free(folder, config)
        held = locked(folder)
        try:
            check_free(folder, config)  # another process may have made it meanwhile
            with new:  # no other process writes these while the folder is locked
                (folder / EXPERIMENT).unlink(missing_ok=True)
                if experiment is not None:
                    with files.atomic_write(folder / EXPERIMENT) as file:
                        file.write(experiment.model_dump_json().encode())
                write_first(folder, config.to_toml(), uuid.uuid4().hex, now())
        finally:
            if held is not None:
                os.close(held)


def write_first(folder: Path, config: str, uid: str, created: str) -> None:
    """Write a run's config and, last, `run.json` with its unique number. Raises Problem if the disk refuses it."""
    text = config.encode()
    with files.atomic_write(folder / CONFIG) as file:
        file.write(text)
    card = RunCard(run=uid, config=_digest(text), created=created, workbench=__version__)
    with files.atomic_write(folder / CARD) as file:
        file.write(card.model_dump_json().encode())


def ask_to_stop(folder: Path) -> bool:
    """Put the request to stop into a run folder; False where it is there already.

    Raises:
        Problem: the folder cannot be written.
    """
    try:
        os.close(os.open(folder / AFTER_EPOCH, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    except OSError as error:
        what = f"The request to stop could not be written to {folder} ({error.strerror})."
        todo = f"Make an empty file {AFTER_EPOCH} in the folder of the run."
        raise Problem(what, kept="The run continues.", todo=todo) from None
    return True


def has_run(folder: Path) -> bool:
    """Whether the folder was made, whatever became of its run: `run.json` is written last.

    Also true for a folder that cannot be looked at: what reads it says why.
    """
    try:
        (folder / CARD).lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def was_begun(folder: Path, config: RunConfig) -> bool:
    """Whether a process was killed while it made the folder for a run of this config. Raises Problem as `make`."""
    check_free(folder, config)
    return bool(set(_names(folder)) - {LOCK})


def check_free(folder: Path, config: RunConfig) -> None:
    """Raise the Problem that `make` would raise for a folder with anything but what an earlier `make` left."""
    names = _names(folder)
    if CARD in names:
        raise Problem(
            f"The folder {folder} is not empty.",
            kept="Nothing was started or changed.",
            todo="Name a new folder, or continue the run in it with --resume.",
        )
    ours = all(name in (LOCK, CONFIG, EXPERIMENT) or parts.NAME.fullmatch(name) for name in names)
    if not ours or (CONFIG in names and _small_file(folder / CONFIG, LARGEST) != config.to_toml().encode()):
        raise Problem(
            f"The folder {folder} is not empty, and has no run: there is no {CARD} in it.",
            kept="Nothing was started or changed.",
            todo="Name a new folder. If this is to be a copy of a run folder, copy it again.",
        )


def locked(folder: Path) -> int | None:
    """Lock the folder for one process; the lock ends when the descriptor is closed. None: its disk has no locks.

    Raises:
        Problem: another process has the lock, it is a link, or the folder cannot be written.
    """
    try:
        opened_lock = writable(folder / LOCK, mode=0o600)
    except OSError as error:
        raise Problem(
            f"The folder {folder} cannot be written ({error.strerror}).", kept="Nothing was started."
        ) from None
    try:
        held = locks.lock(opened_lock)
    except OSError:
        os.close(opened_lock)
        return None
    if held:
        return opened_lock
    os.close(opened_lock)
    raise Problem(
        f"Another process is working on the run in {folder}.", kept="It was not changed.", todo="Stop it there first."
    )


def read(folder: Path) -> tuple[RunCard, RunConfig, str]:
    """The card of a run folder, its config, and the config's text.

    Raises:
        Unfinished: files are missing or incomplete.
        Problem: it is no run folder.
    """
    if not has_run(folder):
        space = folder.absolute().parent.parent
        if folder.name.isdigit() and (space / DATABASE).is_file():
            there = ("--workspace", shown(str(space)))
            again = command_line("workbench", "export", folder.name, "--format", "run", *there)
            raise Problem(
                f"{shown(str(folder))} is a run of a workspace, whose database has what belongs to it.",
                kept="Nothing was imported.",
                todo=f"`{again}` writes it as a folder that can be imported.",
            )
        raise Unfinished(
            f"There is no {CARD} in {folder}: it is incomplete, or no run was started in it.",
            todo="If it is a copy, copy it again. Where it is made, start its run again.",
        )
    card_text = _small_file(folder / CARD, LARGEST_CARD)
    try:
        card = RunCard.model_validate_json(card_text)
    except ValidationError as error:
        if any(problem["type"] == "json_invalid" for problem in error.errors()):
            raise Unfinished(f"{folder / CARD} is incomplete.", todo="Copy the folder again.") from None
        fields = ", ".join(sorted({str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}))
        raise Problem(
            f"{folder / CARD} does not belong to a run: {fields or 'it'} cannot be read.", kept="It was not used."
        ) from None
    config_text = _small_file(folder / CONFIG, LARGEST)
    if _digest(config_text) != card.config:
        raise Unfinished(f"{folder / CONFIG} was changed, or is incomplete.", todo="Copy the folder again.")
    try:
        text = config_text.decode()
    except UnicodeDecodeError:
        raise Problem(f"{folder / CONFIG} is not text.", kept="It was not used.") from None
    return card, RunConfig.recorded(text, str(folder / CONFIG)), text


def run_folders(source: Path) -> list[Path]:
    """`source` itself, if it is a run folder, else those in it, by name; with those that are not whole yet.

    Raises Problem for none, or too many.
    """
    if _is_run_folder(source):
        return [source]
    try:
        with os.scandir(source) as entries:
            within = list(islice(entries, MOST_ENTRIES + 1))
            names = [entry.name for entry in within if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise Problem(f"The folder {source} cannot be read ({error.strerror}).", kept="Nothing was imported.") from None
    if len(within) > MOST_ENTRIES:
        raise Problem(
            f"{shown(str(source))} holds more than {MOST_ENTRIES:,} files and folders, and is not a run folder itself.",
            kept="Nothing was imported.",
            todo="Name a run folder, or a folder of run folders.",
        )
    held = [source / name for name in sorted(names, key=_by_number) if _is_run_folder(source / name)]
    if not held:
        raise Problem(
            f"{shown(str(source))} holds no run folder: there is no {CARD} in it.",
            kept="Nothing was imported.",
            todo="Run folders are made by `workbench run CONFIG --folder DIR`.",
        )
    if (source.parent / DATABASE).is_file() and not any(has_run(folder) for folder in held):
        raise Problem(
            f"{shown(str(source))} holds the runs of a workspace, whose database has what belongs to them.",
            kept="Nothing was imported.",
            todo=f"Open the workspace {shown(str(source.parent))} to see them. `workbench export RUN --format run` "
            "writes a run as a folder that another workspace can import.",
        )
    if len(held) > MOST_FOLDERS:
        raise Problem(f"{source} holds more than {MOST_FOLDERS:,} run folders.", todo="Take them in by parts.")
    return held


def _is_run_folder(folder: Path) -> bool:
    """Whether it was made as one, even if `run.json`, which comes last, has not come yet."""
    return has_run(folder) or os.path.lexists(folder / CONFIG)


def _names(folder: Path) -> list[str]:
    """The names in a folder; none if it is missing. Raises Problem if it cannot be read."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Problem(f"The folder {folder} cannot be read ({why}).", kept="Nothing was started.") from None


def _by_number(name: str) -> list[tuple[int, str]]:
    """Folders 2 and 10 in this order."""
    return [(int(digits or 0), word) for word, digits in re.findall(r"(\D*)(\d{0,18})", name)]


def _small_file(path: Path, largest: int) -> bytes:
    """The content of a file that may be missing or hostile. Raises Unfinished or Problem."""
    try:
        with opened(path) as file:
            text = file.read(largest + 1)
    except FileNotFoundError:
        raise Unfinished(f"{path} is missing.", todo="Copy the folder again.") from None
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror}).", kept="It was not used.") from None
    if len(text) > largest:
        raise Problem(f"{path} is over {largest >> 10:,} KiB.", kept="It was not used.")
    return text


def _digest(text: bytes) -> str:
    return blake2b(text, digest_size=16).hexdigest()
