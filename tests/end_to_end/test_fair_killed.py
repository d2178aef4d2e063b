"""`workbench benchmark fair` from a clean workspace, killed in the middle of a run; the same command then ends with the
table of a comparison that was left alone."""

import csv
import io
import os
import subprocess
import sys
import zipfile
from time import monotonic

import numpy as np
import psutil
import pytest
from PIL import Image, ImageDraw

from tests.waits import HANG
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps

pytestmark = pytest.mark.slow  # three programs one after another: 30 s of processor time

CLASSES, IMAGES = 16, 8
METHODS = ("ce", "supcon")
KILLED_IN = 3  # the third run: the second setting of the first method
RUNS = 2 * (2 * 2 + 2)  # two settings on two folds and two new seeds, for each method
ASKED = [
    "--on", "omniglot", "--methods", ",".join(METHODS), "--trials", "2", "--seeds", "2", "--folds", "2",
    "--steps", "24", "--set", "device=cpu", "--set", "backbone.width=4", "--set", "training.batch_size=16",
]  # fmt: skip
MEASURED = ("seconds", "memory_bytes")


@pytest.fixture
def planted(tmp_path):
    """A data folder with an Omniglot of few characters: three strokes each, drawn by unsteady hands."""
    random = np.random.default_rng(0)
    archive = tmp_path / "data" / "omniglot" / "images_background_small1.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as characters:
        for character in range(CLASSES):
            strokes = random.integers(15, 90, (3, 4))
            for person in range(IMAGES):
                image, content = Image.new("1", (105, 105), 1), io.BytesIO()
                for stroke in strokes + random.integers(-12, 13, strokes.shape):
                    ImageDraw.Draw(image).line(stroke.tolist(), fill=0, width=4)
                image.save(content, "png")
                characters.writestr(f"Planted/character{character + 1:02}/{person + 1:02}.png", content.getvalue())
    return tmp_path / "data"


@pytest.fixture
def command(planted, tmp_path):
    """Start the comparison in a workspace, as a process."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def start(name):
        line = [sys.executable, "-m", "workbench", "benchmark", "fair", "--data", planted, *ASKED]
        line += ["-w", tmp_path / name, "--out", tmp_path / f"{name}-out"]
        words = [str(word) for word in line]
        return psutil.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )

    return start


def tables(folder):
    """What the command wrote, without what is measured by a clock."""
    written = {}
    for name in ("ranking", "pairs", "trials"):
        rows = list(csv.DictReader((folder / f"{name}.csv").read_text("utf-8").splitlines()))
        written[name] = [{key: value for key, value in row.items() if key not in MEASURED} for row in rows]
    return written


def statuses(place):
    with Workspace(place) as workspace:
        return [run.status for run in sorted(workspace.runs(), key=lambda run: run.id)]


def stopped_in_mid_run(process, place):
    """The process, held still after the first checkpoint of a run that is not done."""
    begun = monotonic()
    for line in process.stderr:  # it says when a run starts
        if line.endswith(f": run {KILLED_IN}\n"):
            break
    while monotonic() - begun < HANG:
        process.suspend()
        if (place / "runs" / str(KILLED_IN) / "last.pt").exists():
            break
        process.resume()
    return statuses(place)


def test_killed_in_mid_run_the_same_command_ends_with_the_same_table(command, tmp_path):
    whole = command("whole")
    said, trouble = whole.communicate(timeout=HANG)
    assert whole.returncode == 0, trouble
    assert "2 methods on omniglot, n = 2 seeds, 64 queries." in said

    cut = command("cut")
    seen = stopped_in_mid_run(cut, tmp_path / "cut")
    cut.kill()
    cut.communicate(timeout=HANG)
    assert seen == ["done"] * (KILLED_IN - 1) + ["running"]
    assert not (tmp_path / "cut-out").exists()

    again = command("cut")
    _, trouble = again.communicate(timeout=HANG)
    assert again.returncode == 0, trouble
    assert statuses(tmp_path / "cut") == statuses(tmp_path / "whole") == ["done"] * RUNS, "no run was made twice"
    with Workspace(tmp_path / "cut") as workspace:
        assert len(sweeps.every(workspace)) == 2 * len(METHODS)
    assert tables(tmp_path / "cut-out") == tables(tmp_path / "whole-out")
    assert [row["method"] for row in tables(tmp_path / "cut-out")["trials"]].count("ce") == 2
