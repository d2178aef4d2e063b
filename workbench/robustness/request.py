"""The request to measure an evaluation, which the window and the command line share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.stored import read_stored
from workbench.robustness.kinds import NAMES, Change, suitable
from workbench.robustness.measure import (
    MOST_QUERIES,
    QUERIES,
    Network,
    Search,
    Table,
    changed_scores,
    differences,
    drawn,
    means,
    unchanged_scores,
)
from workbench.workspace import Workspace
from workbench.workspace.measured.robustness import read_robustness, store_robustness

if TYPE_CHECKING:
    from workbench.running.trained_network import Trained

GONE = "This image is no longer in the data set."


def robustness(
    workspace: Workspace, evaluation_id: int, names: Sequence[str] = (), queries: int = QUERIES, device: str = "auto",
    progress: Progress = quiet,
) -> dict[str, Any]:  # fmt: skip
    """Measure how an evaluation's queries are found when their images are changed; the gallery stays as it is.

    Each change is stored as soon as it is measured; what was measured before with as many queries is read.

    Args:
        names: of changes; none: all that change such images.
        queries: that are drawn where there are more, 1 to MOST_QUERIES; another number than before replaces what was
            measured.
        device: as in a config: auto, cpu, cuda, cuda:1, mps.

    Returns:
        Plain data: "changes" (those asked for, each with "name", "title", "source" and "levels" of "words", "strength",
        "metrics" and "difference"), "unchanged" with "metrics", "queries", "queries_there", "gallery", "epoch", "side"
        (px of the network's input) and "apart" (the largest distance of an unchanged embedding to the stored one, as a
        share of its length).

    Raises:
        Problem: the network of the evaluation is not here (see `image_search.search`), an image cannot be read, the
            unchanged images do not have their stored embeddings, no query counts, an unknown change, a workspace that
            is open for reading only.
        Cancelled: by `progress`; changes that are measured stay.
    """
    from workbench.running.search.image_search import kept_network

    if not 1 <= queries <= MOST_QUERIES:
        raise Problem(f"1 to {MOST_QUERIES:,} queries can be drawn, not {queries:,}.", kept="Nothing was measured.")
    run = workspace.run(workspace.evaluation(evaluation_id).run_id)
    channels = 3 if run.dataset_id is None else workspace.dataset(run.dataset_id).channels
    asked = suitable(channels, names)
    known = _known(workspace, evaluation_id, queries)
    missing = [change for change in asked if known is None or change.name not in _names(known)]
    if known is not None and not missing:
        return _with_changes(known, asked)
    if workspace.read_only:  # said before minutes of work, not when the first change is stored
        raise Problem(f"The workspace {workspace.path} is open for reading only.", kept="Nothing was measured.")
    progress("Loading the network", 0, 0)
    trained, evaluation = kept_network(workspace, run.id, evaluation_id=evaluation_id)
    trained.move_to(device)
    stored = read_stored(workspace, evaluation_id)
    rows = drawn(stored, queries)
    network = network_of(workspace, trained, int(stored.sample_ids[rows[0]]))
    search = Search(stored, network.device)
    total = len(rows) * (1 + sum(len(change.strengths) for change in missing))
    unchanged, apart = unchanged_scores(stored, rows, network, search, progress, total)
    measured: dict[str, Any] = {
        "epoch": evaluation.epoch, "queries": len(rows), "queries_there": int((stored.r > 0).sum()),
        "gallery": search.count, "side": network.side, "apart": apart, "unchanged": {"metrics": means(unchanged)},
        "changes": [] if known is None else known["changes"],
    }  # fmt: skip
    before = len(rows)
    for change in missing:
        tables = changed_scores(change, stored, rows, network, search, progress, before, total)
        before += len(rows) * len(change.strengths)
        now = _known(workspace, evaluation_id, queries)  # another program may have measured other changes meanwhile
        there = {} if now is None else {other["name"]: other for other in now["changes"]}
        there |= {other["name"]: other for other in measured["changes"]}
        there[change.name] = _plain(change, tables, unchanged)
        measured["changes"] = sorted(there.values(), key=_place)
        store_robustness(workspace, evaluation_id, measured)
    return _with_changes(measured, asked)


def network_of(workspace: Workspace, trained: "Trained", sample_id: int) -> Network:
    """A network with the images of its data set; `sample_id` is one of them, which says how large its input is.

    Raises:
        Problem: that image cannot be read.
    """
    from workbench.datasets.images.loader import square

    pictures = workspace.pictures(trained.dataset.id)

    def read(number: int) -> np.ndarray:
        """From its file, as the run read it; of a data set in one file, from the cache."""
        try:
            path = pictures.path(number)
            if path is not None and path.is_file():
                return trained.square(path)
            return square(pictures.thumbnail(number), trained.prepared.side, trained.prepared.channels)
        except KeyError:
            raise Problem(GONE, kept="Nothing was measured.") from None

    side = trained.inputs_of(np.stack([read(sample_id)])).shape[-1]
    device = str(next(trained.model.parameters()).device)
    return Network(read, lambda pixels: trained.embed_inputs(trained.inputs_of(pixels)), int(side), device)


def _known(workspace: Workspace, evaluation_id: int, queries: int) -> dict[str, Any] | None:
    """What was measured before with as many queries."""
    known = read_robustness(workspace, evaluation_id)
    return known if known is not None and known["queries"] == min(queries, known["queries_there"]) else None


def _plain(change: Change, tables: Sequence[Table], unchanged: Table) -> dict[str, Any]:
    """One change as plain data."""
    levels = [
        {"words": change.words(level), "strength": float(change.strengths[level]), "metrics": means(table),
         "difference": differences(table, unchanged)}
        for level, table in enumerate(tables)
    ]  # fmt: skip
    return {"name": change.name, "title": change.title, "source": change.source, "levels": levels}


def _names(measured: dict[str, Any]) -> set[str]:
    return {change["name"] for change in measured["changes"]}


def _place(change: dict[str, Any]) -> int:
    return NAMES.index(change["name"]) if change["name"] in NAMES else len(NAMES)


def _with_changes(measured: dict[str, Any], asked: Sequence[Change]) -> dict[str, Any]:
    names = {change.name for change in asked}
    return {**measured, "changes": [change for change in measured["changes"] if change["name"] in names]}
