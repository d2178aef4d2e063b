"""Four folds from one command, killed in the third, gone on with: the result of an experiment that was left alone."""

import os
import subprocess
import sys
import time

import pytest

from tests.waits import HANG
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments

CONFIG = """
name = "folds"
device = "cpu"
[dataset]
DATA
[split]
name = "mlrc"
folds = 4
[backbone]
name = "conv4"
width = 8
[training]
epochs = EPOCHS
batch_size = 32
[evaluation]
probe_size = 0
every = 2
"""


@pytest.fixture(params=["digits", "omniglot"])
def command(request, tmp_path, tmp_path_factory):
    data, epochs = 'name = "digits"', 2
    if request.param == "omniglot":  # small1, where the real data is
        place = request.getfixturevalue("real_data") / "omniglot" / "images_background_small1.zip"
        data, epochs = f"name = \"omniglot\"\nplace = '{place}'", 2
    (tmp_path / "folds.toml").write_text(CONFIG.replace("DATA", data).replace("EPOCHS", str(epochs)))
    cache = tmp_path_factory.getbasetemp() / "cache"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(cache)}

    def start(space, *words):
        line = [
            sys.executable,
            "-m",
            "workbench",
            "run",
            str(tmp_path / "folds.toml"),
            "-w",
            str(space),
            "--quiet",
            *words,
        ]
        return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


def result(space):
    with Workspace(space) as workspace:
        (experiment,) = experiments.every(workspace)
        runs = experiments.runs_of(workspace, experiment.id)
        return experiment.result, [(run.status, run.best) for run in runs]


@pytest.mark.slow
def test_killed_in_the_third_fold_it_ends_as_if_it_had_not_been(command, tmp_path):
    whole = command(tmp_path / "whole")
    told, trouble = whole.communicate(timeout=HANG)
    assert whole.returncode == 0, trouble
    assert "| separated | 4 |" in told
    assert "| concatenated | 1 |" in told

    cut = command(tmp_path / "cut")
    end = time.monotonic() + HANG
    while not (tmp_path / "cut" / "runs" / "3" / "last.pt").exists():
        assert cut.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end, "it trains no third fold"
        time.sleep(0.01)
    cut.kill()
    cut.communicate()
    with Workspace(tmp_path / "cut") as workspace:
        assert [run.status for run in workspace.runs()][-3:] == ["running", "done", "done"]
    going_on = command(tmp_path / "cut", "--resume")
    told_again, trouble = going_on.communicate(timeout=HANG)
    assert going_on.returncode == 0, trouble
    assert told_again.splitlines()[-3:] == told.splitlines()[-3:]
    assert result(tmp_path / "cut") == result(tmp_path / "whole")
    again = command(tmp_path / "cut", "--resume")
    assert "no unfinished experiment" in again.communicate(timeout=HANG)[1]
    assert again.returncode == 1
