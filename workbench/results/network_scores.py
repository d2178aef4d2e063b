"""What the networks of a run score on its own test set and on the other images that they were tested on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.entries import catalog as catalogs
from workbench.events import RunState
from workbench.files import typed_path
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling
from workbench.workspace.rows import Evaluation, Run
from workbench.workspace.run_names import data_title

OWN_HALF = "its own test set"
UNLIKE_IMAGES = (
    "Scores on different images are not differences between networks: how many classes and images are searched changes "
    "them, too."
)


@dataclass(frozen=True, slots=True)
class NetworkScore:
    """One evaluation of a network of a run."""

    run_id: int  # that has the evaluation: the run itself, or its test
    epoch: int  # of the network
    images: str  # OWN_HALF, or the name of the folder or list of other images
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class NetworkScores:
    """What the networks of some runs score, as far as it was read."""

    own: list[NetworkScore]  # on their own test sets
    newest: list[NetworkScore]  # on other images, the last test first
    tests: list[Run]  # all tests of these networks, also those whose scores were not read, by their numbers


def network_scores(workspace: Workspace, run_id: int) -> list[NetworkScore]:
    """The tests of a run's networks by their numbers, behind the evaluations of these networks on its own test set.

    Of a test those of the run that trained its network. Tests in the trash are left out, and so is a test that came
    from another workspace, where its run's number is another run's, and one that does not say which epoch was tested.

    Args:
        run_id: of a run, or of a test.

    Returns:
        None at all where the run was never tested on other images.

    Raises:
        Problem: there is no such run, or its evaluations cannot be read.
    """
    sources = _sources(workspace, [run_id])
    own, tested = _scores(workspace, sources, _tests_of(workspace, sources))
    return own + tested


def newest_scores(workspace: Workspace, run_ids: Sequence[int], most: int) -> NetworkScores:
    """As `network_scores` of several runs, with the newest tests alone.

    Args:
        run_ids: of runs, or of tests; a number that is there twice counts once.
        most: tests whose scores are read.

    Raises:
        Problem: there is no such run, or its evaluations cannot be read.
    """
    sources = _sources(workspace, run_ids)
    tests = _tests_of(workspace, sources)
    own, tested = _scores(workspace, sources, tests[-most:])
    return NetworkScores(own, tested[::-1], tests)


def earlier_tests(tests: Sequence[Run], runs: Sequence[Run], images: Path, network: str) -> list[Run]:
    """The tests that have the result of a test that is still to be made, if the images have not changed since.

    Args:
        tests: of `newest_scores`.
        runs: that are tested, or tests whose network is.
        images: the folder, archive or list.
        network: "best" or "last", of runs that are no tests.

    Returns:
        The newest test of each run that has one, in the order of `runs`.
    """
    path, before = typed_path(images).absolute(), list[Run]()
    on_these = [test for test in tests if Path(str(test.environment["imported"].get("images", ""))) == path]
    for run in runs:
        source = run.id if run.tested is None else run.tested
        epoch = run.tested_epoch if run.tested is not None else run.best_epoch if network == "best" else run.epoch
        before += [test for test in on_these if (test.tested, test.tested_epoch) == (source, epoch)][-1:]
    return list({test.id: test for test in before}.values())


def _sources(workspace: Workspace, run_ids: Sequence[int]) -> list[int]:
    """The runs that trained the networks of these runs; none of a test that came from another workspace."""
    asked = [workspace.run(run_id) for run_id in run_ids]
    of_here = [run for run in asked if run.tested is None or _is_of_here(workspace, run)]
    return list(dict.fromkeys(run.id if run.tested is None else run.tested for run in of_here))


def _tests_of(workspace: Workspace, sources: Sequence[int]) -> list[Run]:
    """The tests of the networks of some runs that say which epoch was tested, by their numbers."""
    tests = [run for run in workspace.runs() if run.tested in sources and run.tested_epoch is not None]
    return sorted((run for run in tests if _is_of_here(workspace, run)), key=lambda run: run.id)


def _is_of_here(workspace: Workspace, run: Run) -> bool:
    return run.status == RunState.DONE and not workspace.has_file(run.id, travelling.CARD)


def _scores(
    workspace: Workspace, sources: Sequence[int], tests: Sequence[Run]
) -> tuple[list[NetworkScore], list[NetworkScore]]:
    """The evaluations of the tested networks on their own test sets, and the tests that have an evaluation."""
    known, scores = catalogs.current(), list[NetworkScore]()
    epochs: dict[int | None, set[int]] = {source: set() for source in sources}
    for run in tests:
        evaluations = workspace.evaluations(run.id)
        if run.tested_epoch is not None and evaluations:
            epochs[run.tested].add(run.tested_epoch)
            scores.append(NetworkScore(run.id, run.tested_epoch, data_title(known, run), evaluations[-1]))
    return [score for source in sources for score in _on_own_half(workspace, source, epochs[source])], scores


def _on_own_half(workspace: Workspace, run_id: int, epochs: set[int]) -> list[NetworkScore]:
    """The run's own evaluations of these epochs; none of a run that was deleted since."""
    if not epochs:
        return []
    try:
        evaluations = workspace.evaluations(run_id)
    except Problem:
        return []
    newest = {evaluation.epoch: evaluation for evaluation in evaluations if evaluation.epoch in epochs}
    return [NetworkScore(run_id, epoch, OWN_HALF, newest[epoch]) for epoch in sorted(newest)]
