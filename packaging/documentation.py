"""Builds docs/ as pages in build/documentation. A broken link or a page outside the navigation is an error.

pip install ".[docs]" && python packaging/documentation.py
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(into: Path) -> int:
    """Build all pages into the folder; returns the exit status of mkdocs, which prints to this terminal."""
    words = ["build", "--strict", "--config-file", str(ROOT / "packaging" / "mkdocs.yml"), "--site-dir", str(into)]
    return subprocess.run([sys.executable, "-m", "mkdocs", *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(build(ROOT / "build" / "documentation"))
