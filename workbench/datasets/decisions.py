"""The user's decisions about labels as a CSV file, and their effect on a data set; images are never changed."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.files import unreadable
from workbench.files.disk_names import ByName
from workbench.files.spreadsheet import csv_text, plain_cell, rows_of, separated
from workbench.names import visible_name
from workbench.problem import Problem

COLUMNS = ("path", "class", "decision", "new_class")
WORDS = ("keep", "relabel", "drop", "unsure")
DROPPED = -1  # instead of a label


@dataclass(frozen=True, slots=True)
class PathDecision:
    """A decision about one image, by its path in the data set."""

    path: str
    class_name: str  # that the data set gives it
    decision: str  # one of WORDS
    new_class: str = ""  # where it is relabelled


def decisions_text(decisions: Iterable[PathDecision]) -> str:
    """Decisions as the content of a CSV file, in the order given."""
    return csv_text(list(COLUMNS), [[row.path, row.class_name, row.decision, row.new_class] for row in decisions])


def read_decisions(path: Path) -> list[PathDecision]:
    """Decisions of a CSV file. Raises a Problem that names the first invalid line."""
    refused = f"The label decisions in {path} cannot be read ({{}})."
    with unreadable.refusing(lambda why: Problem(refused.format(why), kept="Nothing was changed.")):
        content = path.read_bytes()
        text = content.decode(unreadable.table_encoding(content))
        separator, lines = separated(io.StringIO(text, newline=""))
        rows = [(number, cells) for number, cells in rows_of(lines, separator) if any(map(str.strip, cells))]
    titles = rows[0][1] if rows else []
    if not {"path", "decision"} <= set(titles):
        raise Problem(f"{path} is not a file of label decisions: it needs the columns path and decision.")
    decisions = []
    for number, cells in rows[1:]:
        row = dict(zip(titles, cells, strict=False))
        decision = row.get("decision", "").strip()
        named = plain_cell(row.get("new_class", ""))
        if decision not in WORDS or (decision == "relabel") != bool(named):
            raise Problem(
                f"Line {number} of {path} is not a decision.",
                todo=f"Known: {', '.join(WORDS)}; new_class is only for relabel.",
            )
        decisions.append(
            PathDecision(plain_cell(row.get("path", "")), plain_cell(row.get("class", "")), decision, named)
        )
    return decisions


def decided_labels(image_set: ImageSet, decisions: Sequence[PathDecision]) -> np.ndarray:
    """Labels [n] int64 of a data set after the decisions; DROPPED for images that are left out.

    Raises:
        Problem: a new class that the data set does not have, or no decision concerns one of its images.
    """
    rows = ByName((path, row) for row, path in enumerate(image_set.paths))
    # As a workspace has them.
    numbers = ByName((visible_name(name), number) for number, name in enumerate(image_set.class_names))
    labels = image_set.labels.copy()
    known = 0
    for decision in decisions:
        row = rows.find(decision.path)
        if row is None:
            continue
        known += 1
        if decision.decision == "drop":
            labels[row] = DROPPED
        elif decision.decision == "relabel":
            number = numbers.find(visible_name(decision.new_class))
            if number is None:
                raise Problem(
                    f"{image_set.name} has no class named {decision.new_class!r}.", kept="Nothing was started."
                )
            labels[row] = number
    if decisions and not known:
        raise Problem(
            f"None of the {len(decisions):,} label decisions is about an image of {image_set.name}.",
            kept="Nothing was started.",
            todo="Choose the file of this data set.",
        )
    return labels
