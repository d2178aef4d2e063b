"""The window as a process of its own, with its settings and state in a folder of the test's."""

import os
import subprocess
import sys
from pathlib import Path

from tests.waits import HANG

ROOT = Path(__file__).resolve().parents[2]


def run_window(
    code: str, folder: Path, *words: str, until_painted: bool = True
) -> "subprocess.CompletedProcess[str]":  # fmt: skip
    """Run `code` and then the window without a display, on a new workspace in `folder`.

    It closes after its first paint, or, without `until_painted`, when `code` quits the application.
    """
    start = f"import sys\n{code}\nfrom workbench import app\nsys.exit(app.main(sys.argv[1:]))"
    closing = ["--measure-start"] if until_painted else []
    own = {"WORKBENCH_SETTINGS": str(folder / "window.ini"), "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-c", start, *words, "--workspace", str(folder / "w"), *closing],
        capture_output=True, text=True, timeout=HANG, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", **own},
    )  # fmt: skip
