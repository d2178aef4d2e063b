"""The program itself, in a process of its own: it starts, trains Digits, writes the report and closes by itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waits import HANG
from workbench.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
DRIVER = "tests.end_to_end.program_driver"


def on_a_screen(words: list[str], environment: dict[str, str]) -> list[str]:
    """The command on a virtual screen where there is one, else without a screen."""
    virtual = shutil.which("xvfb-run")
    environment["QT_QPA_PLATFORM"] = "xcb" if virtual else "offscreen"
    return [virtual, "-a", "-s", "-screen 0 1440x900x24", *words] if virtual else words


@pytest.mark.slow  # test_window.py does the main job every time, test_closed_while_working.py ends the program
def test_the_program_runs_the_main_job_and_ends(tmp_path):
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "WORKBENCH_SETTINGS": str(tmp_path / "window.ini"),
        "XDG_STATE_HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", DRIVER, str(tmp_path / "space"), str(tmp_path / "out")]
    ended = subprocess.run(
        on_a_screen(command, environment), env=environment, cwd=ROOT, capture_output=True, text=True, timeout=HANG
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.splitlines()[-1] == "collector on", "Python frees cycles by itself again"
    assert "Sample: Digits" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert (tmp_path / "out" / "report.pdf").read_bytes().startswith(b"%PDF-")
    with Workspace(tmp_path / "space") as workspace:
        (run,) = workspace.runs()
        evaluations = workspace.evaluations(run.id)
        assert run.status in ("stopped", "done")
        assert run.best["MAP@R"] > evaluations[0].metrics["MAP@R"], "it learned"
