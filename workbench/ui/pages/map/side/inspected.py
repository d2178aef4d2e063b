"""What the Inspector says of one sample or of several, read from the workspace; not on the window's thread."""

from dataclasses import dataclass

import numpy as np

from workbench.numerals import percentage
from workbench.problem import Problem
from workbench.ui.pages.map.making.reading import class_names_of
from workbench.ui.state.selection.sample_rows import SampleRows
from workbench.ui.style.words import counted
from workbench.workspace import Workspace

NEAREST, SHEET, CLASSES = 5, 30, 12


@dataclass(frozen=True, slots=True)
class Inspected:
    """The content of the panel, for one sample (`sample` is its id) or for several (`sample` is None)."""

    sample: int | None
    title: str
    facts: str
    sheet_title: str
    sheet: list[tuple[int, str, str]]  # sample id, sign ("✓", "✗" or ""), words


def read_sample(workspace: Workspace, evaluation_id: int, chosen: np.ndarray) -> Inspected | None:
    """One sample with its five nearest neighbours; None if it is not a query of this evaluation."""
    sample = int(chosen[0])
    try:
        query = workspace.query(evaluation_id, sample)
    except Problem:  # chosen in an evaluation with another test set
        return None
    run_id = workspace.evaluation(evaluation_id).run_id
    near = workspace.neighbours(run_id, sample, evaluation_id)[:NEAREST]
    if query.r:
        hit = f"First hit at rank {query.first_hit:,}"
        facts = f"AP {percentage(query.ap)}\n{hit}\nR = {query.r:,} other images of its class"
    else:
        facts = "No other image of its class: it has no AP."
    sheet = [
        (other.sample_id, "✓" if other.right else "✗", f"{other.rank}. {other.class_name}, {other.similarity_words}")
        for other in near
    ]
    right = sum(other.right for other in near)
    return Inspected(
        sample,
        query.class_name,
        f"{facts}\n{query.path}",
        f"{right} of the {len(near)} nearest are of its class",
        sheet,
    )


def read_selection(workspace: Workspace, evaluation_id: int, chosen: np.ndarray) -> Inspected | None:
    """Counts per class and the first images of a selection; None if this evaluation has none of its samples."""
    queries, (names, _) = workspace.queries(evaluation_id), class_names_of(workspace, evaluation_id)
    among = np.flatnonzero(SampleRows(queries.sample_ids).among(chosen))
    if not len(among):
        return None
    labels, counts = np.unique(queries.labels[among], return_counts=True)
    order = np.argsort(-counts, kind="stable")

    def name_of(label: int) -> str:
        return names[label] if label < len(names) else str(label)

    most = order[:CLASSES]
    lines = [f"{name_of(label)}: {count:,}" for label, count in zip(labels[most], counts[most], strict=True)]
    if len(order) > CLASSES:
        lines.append(f"and {counted(len(order) - CLASSES, 'more class', 'more classes')}")
    ap = queries.ap[among]
    scored = ap[np.isfinite(ap)]
    wrong = int((~queries.right[among] & np.isfinite(ap)).sum())
    mean = (
        f"Mean AP {percentage(float(scored.mean()))}, {counted(wrong, 'failure')}" if len(scored) else "None has an AP"
    )
    first = among[:SHEET]
    shown = zip(queries.sample_ids[first].tolist(), queries.labels[first].tolist(), strict=True)
    sheet = [(sample, "", name_of(label)) for sample, label in shown]
    return Inspected(None, f"{len(among):,} selected", "\n".join([mean, "", *lines]), f"The first {len(sheet)}", sheet)
