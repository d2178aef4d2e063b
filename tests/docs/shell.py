"""A reader's shell in a copy of the checkout, with a Python that has nothing but pip."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from following import DOCS, LONGEST
from PIL import Image


class Reader:
    """A shell in a copy of the checkout, with an environment of Python's own as `python`."""

    def __init__(self, folder: Path) -> None:
        self.checkout, self._bin = folder / "checkout", folder / "python" / "bin"
        listed = ["git", "-C", str(DOCS.parent), "ls-files", "-z"]
        for name in subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0"):
            if (source := DOCS.parent / name).is_file():
                (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, self.checkout / name)
        subprocess.run([sys.executable, "-m", "venv", str(self._bin.parent)], check=True)

    def types(self, text: str, **more: str) -> str:
        """What the shell prints; the test fails where a command fails."""
        own = {"PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}", "PIP_NO_CACHE_DIR": "1"}
        names = [
            name for name in os.environ if not name.startswith(("WORKBENCH_", "PYTHON", "QT_", "DISPLAY", "WAYLAND_"))
        ]
        began = time.monotonic()
        done = subprocess.run(
            ["sh", "-e", "-c", text], cwd=self.checkout, env={name: os.environ[name] for name in names} | own | more,
            capture_output=True, text=True, check=False, timeout=LONGEST,
        )  # fmt: skip
        print(f"{text.strip()}\n{done.stdout}\n{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.0f}")
        assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def pictures(self) -> list[str]:
        """The pictures of the window that are not of one colour; they are deleted."""
        folder = self.checkout / "dist" / "pictures"
        drawn = []
        for path in sorted(folder.glob("*.png")):
            with Image.open(path) as picture:
                lowest, highest = picture.convert("L").getextrema()
            drawn += [path.stem] if lowest < highest else []
        shutil.rmtree(folder)
        return drawn


def skip_without(*programs: str) -> None:
    """Skip where one of them is not installed."""
    for name in programs:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
