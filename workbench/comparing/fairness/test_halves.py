"""Which runs were searched in the same test images: numbers of other images differ without any merit of a method."""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from workbench.comparing.grouping.groups import Group
from workbench.comparing.grouping.tested import NETWORK
from workbench.comparing.measures import Measured, test_halves, unlike_halves
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.database.connection import Connection
from workbench.workspace.measured import evaluations

MOST_TITLES = 2  # of one test set, in a sentence
SEARCHED = ("split.", NETWORK)  # beginnings of settings that say which images are searched: in a test all of them


def with_test_halves(
    workspace: Workspace, groups: Sequence[Group], measured: Mapping[int, Measured]
) -> dict[int, Measured]:
    """The same, each run with the mark of its test images where the groups have different splits, or some are tests.

    Different splits may have the same test set, as those of unseen classes and of MLRC do, so that its images are
    read: once for each split, seed and data set.
    """
    splits = [
        str(sorted((name, str(value)) for name, value in group.settings.items() if name.startswith(SEARCHED)))
        for group in groups
    ]
    if len(set(splits)) < 2:
        return dict(measured)
    read: dict[tuple[str, int, int | None], str] = {}
    marked = dict(measured)
    for split, group in zip(splits, groups, strict=True):
        with closing(workspace.reader()) as db:
            for run in group.runs:
                key = (split, run.seed, run.dataset_id)
                read[key] = read.get(key) or _mark(db, measured[run.id])
        for run in group.runs:  # one that kept nothing has the half of another of its seed
            marked[run.id] = replace(measured[run.id], test_half=read[split, run.seed, run.dataset_id])
    return marked


def other_test_halves(groups: Sequence[Group], measured: Mapping[int, Measured]) -> list[str]:
    """A sentence that names the groups by their test images; none where these are the same, or not known."""
    alike: list[tuple[dict[int, set[str]], list[str]]] = []
    for group in groups:
        halves = test_halves(measured[run.id] for run in group.runs)
        if halves:
            titles = next((known for first, known in alike if not unlike_halves(first, halves)), None)
            if titles is None:
                titles = []
                alike.append((halves, titles))
            titles.append(f"“{group.title}”")
    if len(alike) < 2:
        return []
    named = "; ".join(_some(titles) for _, titles in alike)
    return [f"Tested on different images, so no difference between them is shown: {named}."]


def _some(titles: Sequence[str]) -> str:
    rest = len(titles) - MOST_TITLES
    return ", ".join(titles[:MOST_TITLES]) + (f" and {rest} more" if rest > 0 else "")


def _mark(db: Connection, measured: Measured) -> str:
    """A hash of the ids of the images that a run was searched in; empty if no evaluation of it can be read."""
    for evaluation in [evaluation.id for evaluation in reversed(measured.evaluations) if evaluation.kept]:
        with suppress(Problem):
            ids = evaluations.read_queries(db, evaluation).sample_ids
            if len(ids):
                return blake2b(np.sort(ids).tobytes(), digest_size=16).hexdigest()
    return ""
