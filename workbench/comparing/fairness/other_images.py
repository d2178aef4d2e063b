"""What limits a comparison of tests on other images, as sentences."""

from collections.abc import Sequence

from workbench.comparing.fairness.shared_epochs import parts
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

ELSEWHERE = "it came from another workspace"


def of_tests(workspace: Workspace, runs: Sequence[Run]) -> list[str]:
    """Tests that stand alone because the run that trained is not known, and tests of networks that are not the best.

    Args:
        runs: that are compared; those that are no tests are left out.
    """
    alone: dict[str, list[int]] = {}
    others: dict[str, list[int]] = {}
    for run in runs:
        if run.tested is None:
            continue
        if run.trainer is None:
            alone.setdefault(_why_unknown(workspace, run, run.tested), []).append(run.id)
        elif run.tested_network == "best epoch" and run.tested_epoch != run.trainer.best_epoch:
            words = f"epoch {run.tested_epoch} of run {run.trainer.id}, whose best is now {run.trainer.best_epoch}"
            others.setdefault(words, []).append(run.id)
    sentences = [f"Tests that are not averaged over seeds, each a separate group: {parts(alone)}."] if alone else []
    if others:
        sentences.append(f"Tested with another network than that of the best epoch: {parts(others)}.")
    return sentences


def _why_unknown(workspace: Workspace, run: Run, tested: int) -> str:
    try:
        trained = workspace.run(tested)
    except Problem:
        return f"run {tested}, which trained the network, is not in this workspace"
    return f"run {tested}, which trained the network, is in the trash" if trained.trashed else ELSEWHERE
