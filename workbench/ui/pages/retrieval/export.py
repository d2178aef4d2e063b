"""The listed queries as CSV, with the suspected cause of each that failed."""

from collections.abc import Callable
from pathlib import Path

from workbench import failed_queries, files
from workbench.failed_queries import FailedQueries
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.models.query_table import Listing
from workbench.ui.pages.retrieval.causes import TITLES
from workbench.workspace import Workspace

FACTS = ["sample_id", "path", "class", "ap", "first_hit", "r"]
CAUSES = ["cause", "other_causes", "nearest_sample_id", "nearest_class", "nearest_distance"]
PAGE = 1000  # queries read at once


def written(
    path: Path, listing: Listing, workspace: Workspace, found: FailedQueries | None
) -> Callable[[Progress], str]:
    """The work of writing one file, for a thread; it returns a sentence on what was written.

    Args:
        listing: which queries, in which order.
        found: their causes, where they are known; else they are worked out.
    """

    def work(progress: Progress) -> str:
        causes, without = found, ""
        if causes is None:
            try:
                causes = failed_queries.find(workspace, listing.evaluation_id, progress)
            except Problem as problem:
                without = f" It has no causes: {problem}"
        with files.atomic_write(path) as file:
            file.write(as_csv(listing, workspace, causes, progress).encode())
        return f"The list was written to {path}.{without}"

    return work


def as_csv(listing: Listing, workspace: Workspace, found: FailedQueries | None, progress: Progress) -> str:
    """The queries of a listing as CSV text, a page at a time; cells of causes are empty where there is none."""
    keys, rows = listing.keys(workspace), []
    for start in range(0, len(keys), PAGE):
        progress("Reading", start, len(keys))
        page = keys[start : start + PAGE]
        facts = listing.rows(workspace, page)
        for key in page.tolist():
            if key in facts:
                sample_id, name, ap, first_hit, r, path = facts[key]
                rows.append([sample_id, path, name, ap, first_hit, r, *_causes(found, sample_id)])
    return csv_text([*FACTS, *CAUSES], rows)


def _causes(found: FailedQueries | None, sample_id: int) -> list[object]:
    about = None if found is None else found.about(sample_id)
    if about is None:
        return [""] * len(CAUSES)
    also = "; ".join(TITLES[cause] for cause in about.also)
    return [TITLES[about.cause], also, about.nearest, about.nearest_class, about.gap]
