"""Suggestions and the person's answers, kept in the folder of the run: the window may be closed meanwhile."""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path, PurePath

from pydantic import TypeAdapter

from workbench import files
from workbench.labelling.request import Suggested, Suggestion
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.paths import is_file

NAME = "labelling-{}.json"  # of the evaluation
LARGEST = 1 << 28  # bytes
LARGEST_ID = (1 << 63) - 1  # of a sample, in the database
START_AGAIN = "Suggest the classes again."


@dataclass(frozen=True, slots=True)
class Labelling:
    """Suggestions, and what the person made of them."""

    suggested: Suggested
    answers: dict[str, str]  # class by path; empty: none of the classes


def keep(workspace: Workspace, labelling: Labelling) -> None:
    """Write the labelling into the folder of its run; an earlier one of its evaluation is replaced.

    Raises:
        Problem: it cannot be written.
    """
    place = _place(workspace, labelling.suggested.evaluation)
    files.make_folder(place.parent)
    with files.atomic_write(place) as file:
        file.write(_READER.dump_json(labelling))


def kept(workspace: Workspace, evaluation_id: int) -> Labelling | None:
    """The labelling that was kept of an evaluation; None if there is none.

    Raises:
        Problem: the file is damaged, or is not of this evaluation.
    """
    place = _place(workspace, evaluation_id)
    if not is_file(place):
        return None
    try:
        labelling = _READER.validate_json(files.small_content(place, LARGEST))
    except (OSError, ValueError):  # pydantic's ValidationError is one
        raise Problem(f"{place} is damaged.", kept="The run is there.", todo=START_AGAIN) from None
    suggested = labelling.suggested
    paths = [*(image.path for image in suggested.images), *labelling.answers]
    fits = suggested.evaluation == evaluation_id and all(map(_is_measured, suggested.images))
    if not fits or any(map(_leaves, paths)):
        raise Problem(f"{place} is not of this evaluation.", kept="The run is there.", todo=START_AGAIN)
    return labelling


def _place(workspace: Workspace, evaluation_id: int) -> Path:
    return workspace.folder(workspace.evaluation(evaluation_id).run_id) / NAME.format(evaluation_id)


def _leaves(path: str) -> bool:
    """Whether a path leads out of its folder, or is none; a colon and a backslash may be in names outside Windows."""
    pure = PurePath(path)
    return bool(pure.anchor) or ".." in pure.parts or "\0" in path


def _is_measured(image: Suggestion) -> bool:
    """Whether numbers of an image can be those of a suggestion."""
    return 0 <= image.nearest <= LARGEST_ID and isfinite(image.similarity) and isfinite(image.second_similarity)


_READER = TypeAdapter(Labelling)
