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
from workbench.problem import Problem
from workbench.workspace.dataset_copy import ExperimentCopy
from workbench.workspace.journal import Text
from workbench.workspace.paths import opened
from workbench.workspace.replaying import shown
from workbench.workspace.times import now

CARD = "run.json"
LARGEST_CARD = 1 << 16  # bytes
LOCK = ".lock"
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

    Raises:
        Problem: the folder is not empty, or cannot be written.
    """
    files.make_folder(folder)
    if any(name != LOCK for name in os.listdir(folder)):
        raise Problem(
            f"The folder {folder} is not empty.",
            kept="Nothing was started or changed.",
            todo="Name a new folder, or go on with the run in it with --resume.",
        )
    text = config.to_toml().encode()
    with files.atomic_write(folder / "config.toml") as file:
        file.write(text)
    if experiment is not None:
        with files.atomic_write(folder / "experiment.json") as file:
            file.write(experiment.model_dump_json().encode())
    card = RunCard(run=uuid.uuid4().hex, config=_digest(text), created=now(), workbench=__version__)
    with files.atomic_write(folder / CARD) as file:
        file.write(card.model_dump_json().encode())


def read(folder: Path) -> tuple[RunCard, RunConfig, str]:
    """The card of a run folder, its config, and the config's text.

    Raises:
        Unfinished: files are missing or incomplete.
        Problem: it is no run folder.
    """
    card_text = _small_file(folder / CARD, LARGEST_CARD)
    try:
        card = RunCard.model_validate_json(card_text)
    except ValidationError as error:
        if any(problem["type"] == "json_invalid" for problem in error.errors()):
            raise Unfinished(f"{folder / CARD} is not whole.", todo="Copy the folder again.") from None
        fields = ", ".join(sorted({str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}))
        raise Problem(
            f"{folder / CARD} does not belong to a run: {fields or 'it'} cannot be read.", kept="It was not used."
        ) from None
    config_text = _small_file(folder / "config.toml", LARGEST)
    if _digest(config_text) != card.config:
        raise Unfinished(f"{folder / 'config.toml'} was changed, or is not whole.", todo="Copy the folder again.")
    try:
        text = config_text.decode()
    except UnicodeDecodeError:
        raise Problem(f"{folder / 'config.toml'} is not text.", kept="It was not used.") from None
    return card, RunConfig.recorded(text), text


def run_folders(source: Path) -> list[Path]:
    """`source` itself, if it is a run folder, else those in it, by name. Raises Problem for none, or too many."""
    if (source / CARD).exists() or (source / "config.toml").exists():
        return [source]
    try:
        with os.scandir(source) as entries:
            within = list(islice(entries, MOST_ENTRIES + 1))
            names = [entry.name for entry in within if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise Problem(f"The folder {source} cannot be read ({error.strerror}).", kept="Nothing was imported.") from None
    if len(within) > MOST_ENTRIES:
        raise Problem(
            f"{shown(str(source))} holds more than {MOST_ENTRIES:,} files and folders, and is no run folder itself.",
            kept="Nothing was imported.",
            todo="Name a run folder, or a folder of run folders.",
        )
    held = [source / name for name in sorted(names, key=_by_number) if (source / name / CARD).exists()]
    if not held:
        raise Problem(
            f"{shown(str(source))} holds no run folder: there is no {CARD} in it.",
            kept="Nothing was imported.",
            todo="Run folders are made by `workbench run CONFIG --folder DIR`.",
        )
    if len(held) > MOST_FOLDERS:
        raise Problem(f"{source} holds more than {MOST_FOLDERS:,} run folders.", todo="Take them in by parts.")
    return held


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
