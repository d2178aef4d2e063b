"""What a run remarks on its data and its network, as sentences: before it trains, and of a run that was fetched."""

from collections.abc import Sequence
from typing import Any

from workbench.names import visible
from workbench.workspace.rows import Run

NAMED = 3  # notes on the data, in words
LAST = 5  # further notes of a stored run, of which the last are on its device, its weights and its crop
Notes = Sequence[tuple[str, str]]


def data_in_words(unlike_published: Notes, notes: Notes, left_out: Notes, many: int, unit: str) -> list[str]:
    """Sentences about a data set: how it differs from what was published, and which of its `many` were left out."""
    sentences = [f"{name} {difference}." for name, difference in unlike_published]
    sentences += [visible(f"{what} {worth_knowing}.") for what, worth_knowing in notes[:NAMED]]
    if more := len(notes[NAMED:]):
        count = "1 more note on the data is" if more == 1 else f"{more:,} more notes on the data are"
        sentences.append(f"{count} in the run's report.")
    if left_out:
        path, reason = left_out[0]
        entries = f"1 {unit} was" if many == 1 else f"{many:,} {unit}s were"
        rest = ""
        if len(left_out) > 1:  # one of them may stand for many, so that their number tells nothing
            counts = f", and {many - 1:,} more; the run's report names them"
            rest = counts if many == len(left_out) else "; the run's report names the others"
        sentences.append(f"{entries} left out: {visible(path)} {reason}{rest}.")
    return sentences


def stored_in_words(run: Run) -> list[str]:
    """The same of a stored run, with what is on its network and in its note; empty before its facts are known."""
    data: dict[str, Any] = run.environment.get("data", {})
    unlike, notes, left_out = (
        [(str(subject), str(remark)) for subject, remark in data.get(name, [])]
        for name in ("unlike_published", "notes", "left_out")
    )
    first, last = notes[:NAMED], notes[NAMED:][-LAST:]
    many = data.get("left_out_count", len(left_out))
    sentences = data_in_words(unlike, first, left_out, many, "file")
    if more := len(notes) - len(first) - len(last):
        sentences.append(f"{more:,} more {'note is' if more == 1 else 'notes are'} in the run's report.")
    sentences += [visible(f"{what[:1].upper()}{what[1:]} {remark}.") for what, remark in last]
    sentences += [f"{sentence}." for sentence in (data.get("shared", ""), data.get("changed", "")) if sentence]
    return [*sentences, *filter(None, map(visible, run.note.splitlines()))]
