"""The real window is closed while a task works: no traceback, no process left behind, no half of a file."""

import contextlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from uuid import uuid4

import numpy as np
import psutil
import pytest

from tests.ui.trained import trained_run
from tests.waits import HANG
from workbench.events import LIVE
from workbench.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
DRIVER = "tests.end_to_end.closing_driver"
MARK = "WORKBENCH_TEST_CLOSING"  # in the environment of the window, and of all that it starts
KINDS = {
    "exported": "Export run 1", "imported": "Import embeddings", "reported": "Export report",
    "mapped": "UMAP of the test embeddings", "checked": "Preflight", "swept": "Start the sweep",
    "sent": "Starting at box", "measured": "Deployment", "loading": "Loading the engine",
    "rated": "Finding a learning rate",
}  # fmt: skip
# Each has a kind with the same parts that is always run; that a range test hears a cancel has a test of its own.
SOMETIMES = ("imported", "reported", "checked", "measured", "rated")


def left_behind(mark: str) -> list[psutil.Process]:
    """The processes that have this mark in their environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                found.append(process)
    return found


def read_whole(path: Path) -> None:
    """Fails where a file under its final name is incomplete."""
    match path.suffix:
        case ".npy":
            np.load(path, allow_pickle=False)
        case ".json":
            json.loads(path.read_text("utf-8"))
        case ".zip":
            assert zipfile.ZipFile(path).testzip() is None
        case ".pdf":
            assert path.read_bytes().rstrip().endswith(b"%%EOF")
        case ".html":
            assert path.read_text("utf-8").rstrip().endswith("</html>")
        case ".csv" | ".tsv" | ".toml":
            assert path.read_bytes().endswith(b"\n")


@pytest.mark.skipif(sys.platform == "win32", reason="another user's environment cannot be read there")
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if kind in SOMETIMES else ()) for kind in KINDS]
)
def test_a_window_that_is_closed_during_a_task_leaves_nothing_behind(tmp_path, kind):
    space, out, mark = tmp_path / "space", tmp_path / "out", uuid4().hex
    with Workspace(space, create=True) as workspace:
        trained_run(workspace, tmp_path / "cache", 400)
    labels = np.arange(4000) % 40
    np.save(tmp_path / "vectors.npy", np.eye(40, 64)[labels] + np.random.default_rng(0).normal(size=(4000, 64)))
    np.save(tmp_path / "labels.npy", labels)
    out.mkdir()
    environment = {
        **os.environ, MARK: mark, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen",
        "WORKBENCH_SETTINGS": str(tmp_path / "window.ini"), "XDG_STATE_HOME": str(tmp_path),
    }  # fmt: skip
    command = [sys.executable, "-m", DRIVER, str(space), kind, KINDS[kind], str(out)]
    ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=HANG)
    _, alive = psutil.wait_procs(left_behind(mark), HANG)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.splitlines()[-1] == f"closed during: {KINDS[kind]}"
    said = [line for line in ended.stderr.splitlines() if "propagateSizeHints" not in line and "raise()" not in line]
    assert said == []
    assert alive == []
    for path in (path for path in out.rglob("*") if path.is_file()):
        read_whole(path)
    with Workspace(space) as workspace:
        runs = {run.name: run.status for run in workspace.runs()}
        assert runs.pop("blobs") == "done"
        assert not set(LIVE) & set(runs.values()), runs
