"""The suspect beside its nearest images of both classes, as a ranking that the window of a pair can show."""

from collections.abc import Callable
from math import nan

from workbench.running.search.image_search import similarities
from workbench.ui.pages.retrieval.pair.model import Ranking
from workbench.ui.pages.retrieval.triage.model import TriageModel
from workbench.workspace.rows import Neighbour


def suspect_ranking(model: TriageModel, run_id: int, class_name: Callable[[int], str], source: str) -> Ranking | None:
    """The current suspect with the images that the view shows: those of the suggested class, then those of its own.

    None without a suspect that has such images. A copy in the training set has rank 0, and the similarity NaN: the
    evaluation has no embedding of it. `source` names the run and epoch.
    """
    suspect, triage = model.current, model.triage
    if suspect is None or triage is None:
        return None
    stored, near = triage.stored, []
    query = stored.embeddings[stored.sample_ids == suspect.sample_id][0]
    for label, ranked in model.neighbours().items():
        for rank, sample_id in ranked:
            close = similarities(query, stored.embeddings[stored.sample_ids == sample_id], stored.distance)
            similarity = float(close[0]) if len(close) else nan
            near.append(Neighbour(rank, sample_id, similarity, label == suspect.label, label, class_name(label)))
    title = f"Suspect, labelled {class_name(suspect.label)}"
    evaluation = triage.evaluation_id
    if not near:
        return None
    return Ranking(
        run_id, evaluation, stored.distance, suspect.sample_id, title, False, near, triage.dataset_id, source
    )
