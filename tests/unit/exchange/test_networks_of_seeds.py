"""The networks of three seeds, really trained, on one folder of other images, up to the interval over seeds."""

import re
from math import sqrt
from statistics import fmean, stdev

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from tests.trained_sample import sample_values, trained
from workbench.cli import cli
from workbench.comparing.grouping.groups import grouped
from workbench.comparing.overview import overview
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.entries import catalog
from workbench.exchange import server
from workbench.exchange.imported.other_images import evaluate_all, evaluate_images
from workbench.problem import Problem
from workbench.workspace import Workspace

CLASSES, EACH, SEEDS = ("oak", "pine", "yew", "fir"), 6, 3
T2 = 4.302653  # Student's t at 97.5%, two degrees of freedom


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Classes of coloured images that are alike enough to be confused."""
    place, rng = tmp_path_factory.mktemp("photographs"), np.random.default_rng(0)
    for number, name in enumerate(CLASSES):
        (place / name).mkdir()
        for row in range(EACH):
            pixels = rng.integers(0, 200, (16, 16, 3), np.uint8)
            pixels[..., number % 3] += np.uint8(15 + 15 * (number // 3))
            Image.fromarray(pixels).save(place / name / f"{row}.png")
    return place


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A workspace whose runs 1, 2 and 3 are the sample project with three seeds, and run 4 one without a checkpoint."""
    place = tmp_path_factory.mktemp("seeds") / "space"
    values = sample_values(1)
    values["evaluation"] |= {"probe_size": 0, "untrained": False, "recall_at": "1"}
    with Workspace(place, create=True) as workspace:
        for seed in range(SEEDS):
            trained(workspace, values | {"seed": seed, "name": f"Sample, seed {seed}"})
        without = RunConfig.recorded(workspace.run(1).config).model_copy(update={"seed": 9})
        workspace.set_status(workspace.create_run(without), "failed")
    return place


@pytest.fixture
def workspace(space):
    with Workspace(space) as opened:
        yield opened


def run_cli(space, *words):
    done = CliRunner().invoke(cli, [*map(str, words), "-w", str(space)])
    assert done.exit_code == 0, done.output
    return done


def test_from_three_networks_to_the_mean_and_interval_over_seeds(workspace, space, photographs):
    done = run_cli(space, "test", 1, photographs, "--also", 3, "--also", 2, "--also", 1)
    made = [int(number) for number in re.findall(r"Run (\d+) done", done.output)]
    assert [workspace.run(number).tested for number in made] == [1, 3, 2]
    scores = [workspace.run(number).best["MAP@R"] for number in made]
    assert len(set(scores)) == SEEDS
    command = re.search(r"`workbench (compare [^`]*)` shows their mean and interval over seeds", done.stdout)
    assert command is not None
    half = T2 * stdev(scores) / sqrt(3)
    printed = CliRunner().invoke(cli, [word.strip("'\"") for word in command[1].split()]).output
    limits = f"[{100 * (fmean(scores) - half):.2f}, {100 * (fmean(scores) + half):.2f}]"
    row = f"| 3 | {100 * fmean(scores):.2f} | {100 * stdev(scores):.2f} | {limits} |"
    assert f"| Sample on {photographs.name} | {', '.join(map(str, sorted(made)))} {row}" in printed


def test_all_seeds_are_found_by_one_of_them_and_those_without_a_network_are_not_asked(workspace, space, photographs):
    done = run_cli(space, "test", 2, photographs, "--all-seeds", "--name", "Night", "--epoch", "last")
    made = [workspace.run(int(number)) for number in re.findall(r"Run (\d+) done", done.output)]
    assert [run.tested for run in made] == [2, 1, 3]
    assert [run.name for run in made] == [f"Night: Sample, seed {seed}" for seed in (1, 0, 2)]
    assert {run.tested_network for run in made} == {"last epoch"}
    (group,) = grouped(made, catalog.current())
    assert group.title == f"Sample on {photographs.name}, last epoch"


def test_a_test_of_a_test_is_of_the_network_that_was_asked_for(workspace, photographs):
    last = evaluate_images(workspace, 1, photographs, epoch="last").run_id
    again = evaluate_images(workspace, last, photographs).run_id
    assert workspace.run(again).tested_network == "last epoch"
    one = evaluate_images(workspace, 1, photographs, epoch=workspace.run(last).tested_epoch).run_id
    assert workspace.run(one).tested_network == f"epoch {workspace.run(last).tested_epoch}"


def test_a_run_without_a_network_is_refused_before_any_is_tested(workspace, photographs):
    before = len(workspace.runs())
    with pytest.raises(Problem, match=r"Run 4 has no checkpoint.*Nothing was tested"):
        evaluate_all(workspace, [1, 4], photographs)
    assert len(workspace.runs()) == before


def test_a_test_that_fails_says_which_and_leaves_those_that_are_done(workspace, photographs):
    made = []

    def lost(tested):
        made.append(tested.run_id)
        for path in photographs.glob("*/*.png"):
            path.rename(path.with_suffix(".gone"))

    try:
        with pytest.raises(Problem, match=r"Run 2: .*What was tested before stays: run \d+\."):
            evaluate_all(workspace, [1, 2], photographs, made=lost)
    finally:
        for path in photographs.glob("*/*.gone"):
            path.rename(path.with_suffix(".png"))
    assert [workspace.run(number).status for number in made] == ["done"]


def test_a_cancel_keeps_the_tests_that_are_done_and_progress_counts_over_all(workspace, photographs):
    seen, before = [], len(workspace.runs())

    def progress(text, done, total):
        seen.append((text, done, total))
        if text.startswith("Test 2 of 3: Finding"):
            raise Cancelled

    with pytest.raises(Cancelled):
        evaluate_all(workspace, [1, 2, 3], photographs, progress=progress)
    assert len(workspace.runs()) == before + 1
    count = EACH * len(CLASSES)
    assert ("Test 1 of 3: Embedding the images", 0, SEEDS * count) in seen
    assert ("Test 2 of 3: Embedding the images", count, SEEDS * count) in seen


def test_the_process_of_the_window_tests_several(workspace, space, photographs):
    fields = {"workspace": str(space), "runs": [1, 2], "images": str(photographs), "name": "", "epoch": "best"}
    answer = server.OPS["evaluate_all"]({**fields, "device": "cpu"}, lambda *_: None)
    assert [workspace.run(test["run_id"]).tested for test in answer["tests"]] == [1, 2]
    assert all("remarks" in test for test in answer["tests"])


def test_several_runs_need_images(space):
    done = CliRunner().invoke(cli, ["test", "1", "--also", "2", "-w", str(space)])
    assert done.exit_code == 2
    assert "--also and --all-seeds name what is tested" in done.output


def test_tests_and_their_runs_are_two_groups_of_one_comparison(workspace, photographs):
    tests = [tested.run_id for tested in evaluate_all(workspace, [1, 2, 3], photographs)]
    runs = [workspace.run(number) for number in (1, 2, 3, *tests)]
    shown = overview(workspace, runs, catalog.current(), "MAP@R", "best")
    assert [len(group.runs) for group in shown.groups] == [3, 3]
    assert any(sentence.startswith("The runs saw different data") for sentence in shown.guards)
