"""What the view New images reads of an evaluation before it shows anything."""

from dataclasses import dataclass

from workbench.labelling.keeping import Labelling, kept
from workbench.names import visible
from workbench.problem import Problem
from workbench.running.search.image_search import check_network
from workbench.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Known:
    """What is read of an evaluation."""

    labelling: Labelling | None
    names: dict[int, str]  # paths of its samples, by id
    classes: list[str]
    refused: str  # why nothing can be suggested; empty where it can
    damaged: str  # a sentence on what was kept and cannot be read


def read_known(workspace: Workspace, evaluation_id: int) -> Known:
    """What was kept, the names of the labelled images, and why nothing can be suggested."""
    run = workspace.run(workspace.evaluation(evaluation_id).run_id)
    if run.dataset_id is None:
        return Known(None, {}, [], run.has_no("data set"), "")
    samples = workspace.samples(run.dataset_id)
    names = dict(zip(samples.ids.tolist(), map(visible, samples.paths), strict=True))
    classes = list(workspace.dataset(run.dataset_id).class_names)
    labelling, refused, damaged = None, "", ""
    try:
        labelling = kept(workspace, evaluation_id)
    except Problem as problem:
        damaged = str(problem)
    try:
        check_network(workspace, run.id, workspace.evaluation(evaluation_id).epoch)
    except Problem as problem:
        refused = str(problem)
    return Known(labelling, names, classes, refused, damaged)
