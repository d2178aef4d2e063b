"""The listed queries as CSV, with the suspected cause of each that failed."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from workbench import files
from workbench.files.spreadsheet import csv_parts
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.explanations import FailedQueries, explain_failures
from workbench.ui.pages.retrieval.model.cause_names import TITLES
from workbench.ui.pages.retrieval.model.listing import ListedQuery
from workbench.workspace import Workspace
from workbench.workspace.rows import Samples

BLOCK = 2_000  # queries whose paths are looked up at a time
FACTS = ["sample_id", "path", "class", "ap", "first_hit", "r"]
CAUSES = ["cause", "other_causes", "nearest_sample_id", "nearest_class", "nearest_distance"]


def written(
    path: Path,
    listed: Iterable[ListedQuery],
    workspace: Workspace,
    evaluation_id: int,
    explained: FailedQueries | None,
    method: str | None = None,
) -> Callable[[Progress], str]:
    """The work of writing one file, for a thread; it returns a sentence on what was written.

    Args:
        listed: queries of the evaluation, in their order.
        explained: their causes, where they are known; else they are worked out.
        method: of search, of which the queries have the gain of AP; None: none is compared with.
    """

    def work(progress: Progress) -> str:
        causes, without = explained, ""
        if causes is None:
            try:
                causes = explain_failures(workspace, evaluation_id, progress)
            except Problem as problem:
                without = f" It has no causes: {problem}"
        progress("Reading the paths", 0, 0)
        samples = workspace.samples(workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id)
        head = [*FACTS, *CAUSES, *([] if method is None else [f"ap_gain_by_{method}"])]
        with files.chosen_file(path) as file:
            for part in csv_parts(head, _rows(listed, samples, causes, method is not None)):
                progress("Writing the file", 0, 0)
                file.write(part.encode())
        return f"The list was written to {path}.{without}"

    return work


def _rows(
    listed: Iterable[ListedQuery], samples: Samples, explained: FailedQueries | None, with_gain: bool
) -> Iterator[list[object]]:
    """A row for each query; cells are empty if there is no AP, no path and no cause."""
    queries, order = iter(listed), np.argsort(samples.ids)
    while block := list(islice(queries, BLOCK)):
        for query, path in zip(block, _paths(block, samples, order), strict=True):
            ap = "" if query.ap != query.ap else query.ap
            facts = [query.sample_id, path, query.class_name, ap, query.first_hit, query.r]
            gain: list[object] = ["" if query.gain is None else query.gain] if with_gain else []
            yield [*facts, *_causes(explained, query.sample_id), *gain]


def _paths(block: list[ListedQuery], samples: Samples, order: np.ndarray) -> list[str]:
    """The path of each query; `order` sorts the ids of the samples. A dict of a million ids holds the interpreter."""
    if not len(order):
        return [""] * len(block)
    ids = np.array([query.sample_id for query in block], np.int64)
    rows = order[np.minimum(np.searchsorted(samples.ids, ids, sorter=order), len(order) - 1)]
    known = samples.ids[rows] == ids
    return [samples.paths[row] if there else "" for row, there in zip(rows.tolist(), known.tolist(), strict=True)]


def _causes(explained: FailedQueries | None, sample_id: int) -> list[object]:
    about = None if explained is None else explained.about(sample_id)
    if about is None:
        return [""] * len(CAUSES)
    also = "; ".join(TITLES[cause] for cause in about.also)
    return [TITLES[about.cause], also, about.nearest, about.nearest_class, about.gap]
