"""Runs that a comparison leaves out, because what was stored of them cannot be read."""

from workbench.comparing.fairness.shared_epochs import runs_named
from workbench.problem import Problem

Unread = tuple[tuple[int, str], ...]  # (run, what is wrong and what to do, in sentences)
MOST_SAID = 3  # of several, whose faults are said
NO_TWO = "There are no two runs here that kept embeddings of the same test images."
NO_TWO_READ = "There are no two runs here whose embeddings of the same test images can be read."
SAME_SPLIT = "Choose runs with the same split, or several seeds of one config."


def unread_words(unread: Unread) -> str:
    """ "Run 2 is left out. The file … is damaged: …"; of many the first three, then numbers; empty for none."""
    sentences = [f"Run {run} is left out. {wrong}" for run, wrong in unread[:MOST_SAID]]
    if more := [run for run, _ in unread[MOST_SAID:]]:
        sentences.append(f"What was stored of {runs_named(more)} cannot be read either.")
    return " ".join(sentences)


def no_two(unread: Unread) -> Problem:
    """Why there are no two runs to compare: none of the same images, or damaged ones."""
    if unread:
        return Problem(f"{NO_TWO_READ} {unread_words(unread)}")
    return Problem(NO_TWO, todo=SAME_SPLIT)
