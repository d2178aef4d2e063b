"""Digits at a real place: what its runs are, and looks at the place until something is true."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.waits import HANG
from workbench.config import RunConfig
from workbench.places.following import Following
from workbench.settings.changed import read_config
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

ROOT = Path(__file__).resolve().parents[2]
LOOK = 0.3  # seconds


def digits(*changes: str) -> RunConfig:
    """The sample, small; it trains until it is asked to end, unless its epochs are changed."""
    small = ("training.epochs=2000", "embedding.dim=8", "evaluation.probe_every=1000", "device=cpu")
    return read_config("sample-digits", (*small, *changes))


def python(folder: Path) -> str:
    """A Python with this checkout, as a place has one with Workbench."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nexport PYTHONPATH={ROOT} OMP_NUM_THREADS=1\nexec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return str(path)


def steps(workspace: Workspace, run_id: int) -> int:
    """The last step of a run that has come home; -1 before the first."""
    if "batch/loss" not in workspace.scalar_names(run_id):
        return -1
    return int(workspace.scalars(run_id, "batch/loss")[0][-1])


def until(wanted: Callable[[], object], why: str) -> None:
    """Wait until something is true."""
    end = time.monotonic() + 2 * HANG
    while not wanted():
        assert time.monotonic() < end, why
        time.sleep(LOOK)


def looked(following: Following, workspace: Workspace, run_id: int, wanted: Callable[[Run], bool]) -> Run:
    """The run's row when it is as wanted, looking at the place until then."""
    end = time.monotonic() + HANG
    while not wanted(run := workspace.run(run_id)):
        assert time.monotonic() < end, (run, following.look())
        following.look()
        time.sleep(LOOK)
    return run
