"""What compared runs do not have in common, by their numbers; as the command line says it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import images, store
from workbench import cli
from workbench.comparing.in_common import nothing_in_common
from workbench.comparing.overview import overview
from workbench.problem import Problem

pytestmark = pytest.mark.usefixtures("no_catalog")
ONES = np.ones(6)


def look(workspace, metric="MAP@R", at="best"):
    return overview(workspace, workspace.runs(), {}, metric, at)


def test_runs_that_share_all_are_not_spoken_of(workspace):
    store(workspace, {0: ONES, 1: ONES})
    assert nothing_in_common(workspace, look(workspace)) == []
    store(workspace, {0: ONES, 1: ONES}, seed=1)
    store(workspace, {}, seed=2)
    store(workspace, {0: ONES, 1: ONES}, shown=replace(images(6), image_size=16), seed=3)
    assert nothing_in_common(workspace, look(workspace)) == []


def test_data_metric_and_epoch_are_said_with_the_runs(workspace):
    store(workspace, {1: ONES}, metrics={"NMI": 0.5})
    store(workspace, {2: ONES}, seed=1)
    store(workspace, {1: ONES}, shown=images(6, "birds"), seed=2)
    assert sorted(nothing_in_common(workspace, look(workspace, "NMI"))) == [
        "Not all of the runs have NMI: runs 2, 3 lack it.",
        "The runs have no data set in common, so their numbers cannot be compared: "
        "runs 1, 2: small (fingerprint small-8x, 8 px, 1 channel); "
        "run 3: birds (fingerprint birds-8x, 8 px, 1 channel).",
        "The runs have no epoch in common: runs 1, 3: epoch 1; run 2: epoch 2. Only best and last can be compared.",
    ]
    with pytest.raises(
        Problem, match=r"None of runs 1, 2, 3 has MAP@R at epoch 7\..*in common: runs 1, 3: epoch 1; run 2: epoch 2"
    ):
        look(workspace, at=7).require()


def test_an_epoch_that_some_lack_and_many_runs_are_said(workspace):
    for seed in range(11):
        store(workspace, {0: ONES} if seed else {0: ONES, 4: ONES}, seed=seed)
    assert nothing_in_common(workspace, look(workspace, at=4)) == [
        "Not all of the runs were evaluated at epoch 4: not runs 2, 3, 4, 5, 6, 7, 8, 9 and 2 more."
    ]


def test_the_command_says_it_and_writes_the_report(workspace, tmp_path, capsys):
    store(workspace, {1: ONES})
    store(workspace, {2: ONES}, shown=images(6, "birds"), seed=1)
    out = tmp_path / "out"
    said = ["report", "1", "2", "--section", "guards", "--workspace", str(workspace.path), "--out", str(out)]
    assert cli.main(said) == 0
    told = capsys.readouterr()
    assert (
        "run 1: small (fingerprint small-8x, 8 px, 1 channel); run 2: birds (fingerprint birds-8x, 8 px, 1 channel)"
        in told.err
    )
    assert "no epoch in common: run 1: epoch 1; run 2: epoch 2" in told.err
    assert told.out.strip() == str(out / "report.html")
    assert cli.main([*said, "--at", "9"]) == 2
    assert "None of runs 1, 2 has MAP@R at epoch 9" in capsys.readouterr().err
