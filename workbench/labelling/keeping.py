"""Suggestions and the person's answers, kept in the folder of the run: the window may be closed meanwhile.

Answers are lines that are appended to a file of their own, so that of two programs none overwrites those of the other.
A line is a JSON object from paths to classes, in UTF-8; a newer line replaces what older ones say of its images.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path, PurePath
from time import monotonic, sleep
from uuid import uuid4

from pydantic import TypeAdapter

from workbench import files
from workbench.files import NOT_WAITING, locks
from workbench.labelling.request import Suggested, Suggestion
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.paths import is_file, regular

NAME = "labelling-{}.json"  # of the evaluation
ANSWERS = "labelling-{}-{}.jsonl"  # of the evaluation and the list
LARGEST = 1 << 28  # bytes
LARGEST_ID = (1 << 63) - 1  # of a sample, in the database
PATIENCE, AGAIN = 10.0, 0.01  # seconds to wait for another program that writes, and between two tries
START_AGAIN = "Suggest the classes again."
Changes = Mapping[str, str | None]  # class by path, empty: none of the classes; None: the suggestion stands


@dataclass(frozen=True, slots=True)
class Labelling:
    """Suggestions, and what the person made of them."""

    suggested: Suggested
    answers: dict[str, str]  # class by path; empty: none of the classes
    name: str = ""  # of this list, in hexadecimal: the next one of the evaluation has another; empty: not kept


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is in the file of the suggestions."""

    name: str
    suggested: Suggested


class Replaced(Problem):
    """Another list of the evaluation was made meanwhile."""


class Changed(Problem):
    """Another program changed an answer that was to be taken back.

    Attributes:
        answers: all that are stored.
    """

    def __init__(self, answers: dict[str, str]) -> None:
        what = "The answer was not undone. It was changed meanwhile by another window or a command."
        super().__init__(what, kept="It stays as it is there.")
        self.answers = answers


def keep(workspace: Workspace, labelling: Labelling) -> Labelling:
    """Write the labelling into the folder of its run, with a new name; an earlier one of its evaluation is replaced.

    Raises:
        Problem: it cannot be written.
    """
    evaluation, named = labelling.suggested.evaluation, _Kept(uuid4().hex, labelling.suggested)
    place, answers = _places(workspace, evaluation, named.name)
    files.make_folder(place.parent)
    with files.atomic_write(answers) as file:
        file.write(_line(labelling.answers))
    with files.atomic_write(place) as file:
        file.write(_READER.dump_json(named))
    for older in place.parent.glob(ANSWERS.format(evaluation, "*")):
        if older != answers:
            with suppress(OSError):  # on Windows another program may be reading it
                older.unlink()
    return Labelling(labelling.suggested, labelling.answers, named.name)


def kept(workspace: Workspace, evaluation_id: int) -> Labelling | None:
    """The labelling that was kept of an evaluation; None if there is none.

    Raises:
        Problem: a file is damaged, or is not of this evaluation.
    """
    place = _places(workspace, evaluation_id, "")[0]
    if not is_file(place):
        return None
    try:
        named = _READER.validate_json(files.small_content(place, LARGEST))
    except (OSError, ValueError):  # pydantic's ValidationError is one
        raise _damaged(place) from None
    suggested = named.suggested
    fits = suggested.evaluation == evaluation_id and re.fullmatch("[0-9a-f]{32}", named.name)
    if (
        not fits
        or not all(map(_is_measured, suggested.images))
        or any(_leaves(image.path) for image in suggested.images)
    ):
        raise _foreign(place)
    answers = _places(workspace, evaluation_id, named.name)[1]
    try:
        content = files.small_content(regular(answers), LARGEST)
    except (OSError, ValueError):
        raise _damaged(answers) from None
    return Labelling(suggested, _answers(content, answers), named.name)


def answers_for(workspace: Workspace, suggested: Suggested) -> dict[str, str]:
    """The kept answers to images of a new list of the same evaluation and folder. Raises Problem as `kept`."""
    before = kept(workspace, suggested.evaluation)
    if before is None or before.suggested.folder != suggested.folder:
        return {}
    paths = {image.path for image in suggested.images}
    return {path: label for path, label in before.answers.items() if path in paths}


def give(workspace: Workspace, labelling: Labelling, changes: Changes, before: Changes | None = None) -> dict[str, str]:
    """Store answers to a kept list; all its answers, with those that other programs have given meanwhile.

    Args:
        changes: for images of the list.
        before: what the answers to these images must still be, else nothing is stored: another program changed them.

    Raises:
        Replaced: the list is not the kept one any more.
        Changed: another program changed one of the answers.
        Problem: nothing can be written, or the file is damaged.
    """
    answers = _places(workspace, labelling.suggested.evaluation, labelling.name)[1]
    with _opened_alone(answers) as opened:
        content = _all_of(opened, answers)
        now = _answers(content, answers)
        if before is not None and any(now.get(path) != label for path, label in before.items()):
            raise Changed(now)
        _append(opened, content.rfind(b"\n") + 1, _line(changes), answers)
        _change(now, changes)
    return now


def _places(workspace: Workspace, evaluation_id: int, name: str) -> tuple[Path, Path]:
    """The files of the suggestions and of the answers."""
    folder = workspace.folder(workspace.evaluation(evaluation_id).run_id)
    return folder / NAME.format(evaluation_id), folder / ANSWERS.format(evaluation_id, name)


@contextmanager
def _opened_alone(path: Path) -> Iterator[int]:
    """The file, open for reading and writing; no other program is in such a block for it."""
    try:
        opened = os.open(regular(path), os.O_RDWR | NOT_WAITING)
    except FileNotFoundError:
        raise Replaced(
            "The answer was not stored. Another window has made another list of this evaluation.",
            kept="That list and its answers are there.", todo="Answer there.",
        ) from None  # fmt: skip
    except OSError as error:
        raise files.explain(error, path) from error
    try:
        _wait_for_lock(opened, path)
        yield opened
    finally:
        os.close(opened)


def _wait_for_lock(opened: int, path: Path) -> None:
    until = monotonic() + PATIENCE
    with suppress(OSError):  # a disk without locks
        while not locks.lock(opened):
            if monotonic() > until:
                raise Problem(f"Another program writes {path}.", kept="The answer was not stored.", todo="Try again.")
            sleep(AGAIN)


def _all_of(opened: int, path: Path) -> bytes:
    blocks = []
    try:
        while block := os.read(opened, 1 << 20):
            blocks.append(block)
    except OSError:
        raise _damaged(path) from None
    return b"".join(blocks)


def _append(opened: int, end: int, line: bytes, path: Path) -> None:
    """Write a line after the last whole one, flushed to the disk; on an error the file ends there. Raises Problem."""
    try:
        os.ftruncate(opened, end)
        os.lseek(opened, end, os.SEEK_SET)
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(opened, rest) :]
        os.fsync(opened)
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(opened, end)
        raise files.explain(error, path) from error


def _line(changes: Changes) -> bytes:
    return json.dumps(dict(changes), ensure_ascii=False).encode() + b"\n"


def _answers(content: bytes, path: Path) -> dict[str, str]:
    """The answers of a file; a last line without an end was torn by a power cut. Raises Problem: it is damaged."""
    answers: dict[str, str] = {}
    for line in content.split(b"\n")[:-1]:
        try:
            changes = _CHANGES.validate_json(line)
        except ValueError:
            raise _damaged(path) from None
        if any(map(_leaves, changes)):
            raise _foreign(path)
        _change(answers, changes)
    return answers


def _change(answers: dict[str, str], changes: Changes) -> None:
    for path, label in changes.items():
        if label is None:
            answers.pop(path, None)
        else:
            answers[path] = label


def _damaged(path: Path) -> Problem:
    return Problem(f"{path} is damaged.", kept="The run is there.", todo=START_AGAIN)


def _foreign(path: Path) -> Problem:
    return Problem(f"{path} is not of this evaluation.", kept="The run is there.", todo=START_AGAIN)


def _leaves(path: str) -> bool:
    """Whether a path leads out of its folder, or is none; a colon and a backslash may be in names outside Windows."""
    pure = PurePath(path)
    return bool(pure.anchor) or ".." in pure.parts or "\0" in path


def _is_measured(image: Suggestion) -> bool:
    """Whether numbers of an image can be those of a suggestion."""
    return 0 <= image.nearest <= LARGEST_ID and isfinite(image.similarity) and isfinite(image.second_similarity)


_READER, _CHANGES = TypeAdapter(_Kept), TypeAdapter(dict[str, str | None])
