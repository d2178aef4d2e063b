"""The window as a process of its own, with its settings and state in a folder of the test's."""

import os
import subprocess
import sys
from pathlib import Path

from tests.waits import HANG

ROOT = Path(__file__).resolve().parents[2]


def run_window(code: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run `code` and then the window without a display, on a new workspace in `folder`; it closes after its paint."""
    start = f"import sys\n{code}\nfrom workbench import app\nsys.exit(app.main(sys.argv[1:]))"
    own = {"WORKBENCH_SETTINGS": str(folder / "window.ini"), "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-c", start, *words, "--workspace", str(folder / "w"), "--measure-start"],
        capture_output=True, text=True, timeout=HANG, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", **own},
    )  # fmt: skip
