"""The queue of label triage with the user's decisions, and decisions to and from files."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from pathlib import Path

from workbench import files
from workbench.datasets.decisions import PathDecision, decisions_text, read_decisions
from workbench.evaluation.intervals import wilson_half, wilson_interval
from workbench.files.disk_names import ByName
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.stored import Stored, dataset_of, read_stored
from workbench.results.triage import LEAST, Suspect, queue
from workbench.workspace import Workspace
from workbench.workspace.choices.label_decisions import DROP, RELABEL, UNSURE, Decision, all_decisions, decide

HALVES = (0.25, 0.2, 0.15, 0.1, 0.05)  # halves of an interval that are named as the next to reach


@dataclass(frozen=True, slots=True, eq=False)
class Triage:
    """The queue that the user works through."""

    evaluation_id: int
    dataset_id: int
    stored: Stored
    suspects: list[Suspect]  # the surest first
    decisions: dict[int, Decision]  # by sample id, of the whole data set, in the order in which they were made


@dataclass(frozen=True, slots=True)
class Precision:
    """The precision of the queue so far: relabelled or dropped among the decided, without unsure ones."""

    right: int
    answered: int
    low: float  # 95% Wilson interval, in 0..1
    high: float


def read_triage(workspace: Workspace, evaluation_id: int, least: float = LEAST, progress: Progress = quiet) -> Triage:
    """The queue of an evaluation, and earlier decisions. Takes seconds for 60,000 samples.

    Raises:
        Problem: a file of the evaluation is missing or damaged, or the run has no data set.
    """
    progress("Reading the neighbours", 0, 2)
    dataset_id = dataset_of(workspace, evaluation_id)
    stored = read_stored(workspace, evaluation_id)
    progress("Looking for suspects", 1, 2)
    suspects = queue(stored, least, lambda: progress("Looking for suspects", 1, 2))
    return Triage(evaluation_id, dataset_id, stored, suspects, all_decisions(workspace, dataset_id))


def precision(suspects: Sequence[Suspect], decisions: dict[int, Decision]) -> Precision:
    """How often the answered suspects were wrongly labelled, with its Wilson interval (Wilson, 1927)."""
    path = precision_path(suspects, decisions)
    return path[-1] if path else Precision(0, 0, 0.0, 1.0)


def precision_path(suspects: Sequence[Suspect], decisions: dict[int, Decision]) -> list[Precision]:
    """The precision after each answer about these suspects, in the order of the decisions; unsure ones are left out."""
    listed = {suspect.sample_id for suspect in suspects}
    answers = [
        decision.decision in (RELABEL, DROP)
        for decision in decisions.values()
        if decision.sample_id in listed and decision.decision != UNSURE
    ]
    rights = accumulate(answers, initial=0)
    return [_wilson(right, answered) for answered, right in enumerate(rights) if answered]


def _wilson(right: int, answered: int) -> Precision:
    """The precision of at least one answer, of which `right` were wrong labels."""
    return Precision(right, answered, *wilson_interval(right / answered, answered))


def answers_to_narrow(judged: Precision) -> tuple[int, float] | None:
    """How many more answers at the same share bring half the interval under the next of HALVES, and which one.

    None without an answer, and where it is under the last of them.
    """
    if not judged.answered:
        return None
    share = judged.right / judged.answered
    half = next((half for half in HALVES if half < wilson_half(share, judged.answered)), None)
    if half is None:
        return None
    more = next(more for more in count(1) if wilson_half(share, judged.answered + more) < half)
    return more, half


def export_decisions(workspace: Workspace, dataset_id: int, path: Path) -> int:
    """Write all decisions about a data set as CSV; returns their number. Raises Problem when it cannot be written."""
    samples, dataset = workspace.samples(dataset_id), workspace.dataset(dataset_id)
    known = {
        number: (name, dataset.class_name(label))
        for number, name, label in zip(samples.ids.tolist(), samples.paths, samples.labels.tolist(), strict=True)
    }
    rows = [
        PathDecision(
            *known[number], decision.decision, "" if decision.label is None else dataset.class_name(decision.label)
        )
        for number, decision in all_decisions(workspace, dataset_id).items()
        if number in known
    ]
    with files.named_file(path) as file:
        file.write(decisions_text(rows).encode())
    return len(rows)


def import_decisions(workspace: Workspace, dataset_id: int, path: Path) -> tuple[int, int]:
    """Store the decisions of a CSV file, each in the place of an earlier one.

    Returns:
        How many were stored, and how many concern images that the data set does not have.

    Raises:
        Problem: a file that cannot be read, or a class that the data set does not have.
    """
    samples, dataset = workspace.samples(dataset_id), workspace.dataset(dataset_id)
    ids: ByName[int] = ByName(zip(samples.paths, samples.ids.tolist(), strict=True))
    labels = ByName((name, label) for label, name in enumerate(dataset.class_names))
    decisions, unknown = [], 0
    for row in read_decisions(path):
        if (sample := ids.find(row.path)) is None:
            unknown += 1
            continue
        new_class = visible_name(row.new_class)
        label = labels.find(new_class) if new_class else None
        if new_class and label is None:
            raise Problem(f"{dataset.name} has no class named {row.new_class!r}.", kept="Nothing was changed.")
        decisions.append(Decision(sample, row.decision, label))
    decide(workspace, dataset_id, decisions)
    return len(decisions), unknown
