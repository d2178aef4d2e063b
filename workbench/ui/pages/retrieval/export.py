"""The listed queries as CSV, with the suspected cause of each that failed."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from workbench import files
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.explanations import FailedQueries, explain_failures
from workbench.ui.pages.retrieval.causes import TITLES
from workbench.ui.pages.retrieval.listing import ListedQuery
from workbench.workspace import Workspace

FACTS = ["sample_id", "path", "class", "ap", "first_hit", "r"]
CAUSES = ["cause", "other_causes", "nearest_sample_id", "nearest_class", "nearest_distance"]


def written(
    path: Path, listed: Iterable[ListedQuery], workspace: Workspace, evaluation_id: int, explained: FailedQueries | None
) -> Callable[[Progress], str]:
    """The work of writing one file, for a thread; it returns a sentence on what was written.

    Args:
        listed: queries of the evaluation, in their order.
        explained: their causes, where they are known; else they are worked out.
    """

    def work(progress: Progress) -> str:
        causes, without = explained, ""
        if causes is None:
            try:
                causes = explain_failures(workspace, evaluation_id, progress)
            except Problem as problem:
                without = f" It has no causes: {problem}"
        progress("Reading the paths", 0, 0)
        samples = workspace.samples(workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id or 0)
        paths = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
        text = as_csv(listed, paths, causes)
        progress("Writing the file", 0, 0)
        with files.atomic_write(path) as file:
            file.write(text.encode())
        return f"The list was written to {path}.{without}"

    return work


def as_csv(listed: Iterable[ListedQuery], paths: dict[int, str], explained: FailedQueries | None) -> str:
    """Queries as CSV text; cells are empty if there is no AP, no path and no cause."""
    return csv_text([*FACTS, *CAUSES], _rows(listed, paths, explained))


def _rows(
    listed: Iterable[ListedQuery], paths: dict[int, str], explained: FailedQueries | None
) -> Iterator[list[object]]:
    for query in listed:
        ap = "" if query.ap != query.ap else query.ap
        facts = [query.sample_id, paths.get(query.sample_id, ""), query.class_name, ap, query.first_hit, query.r]
        yield [*facts, *_causes(explained, query.sample_id)]


def _causes(explained: FailedQueries | None, sample_id: int) -> list[object]:
    about = None if explained is None else explained.about(sample_id)
    if about is None:
        return [""] * len(CAUSES)
    also = "; ".join(TITLES[cause] for cause in about.also)
    return [TITLES[about.cause], also, about.nearest, about.nearest_class, about.gap]
