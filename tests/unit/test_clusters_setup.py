"""`tests/clusters/setup` explains itself, and then leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[1] / "clusters/setup"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script for Debian")
@pytest.mark.parametrize("words", [["--help"], [], ["ssh", "begin"]])
def test_other_words_are_answered_with_the_usage(tmp_path, words):
    base = tmp_path / "clusters"
    done = subprocess.run(
        ["bash", SETUP, *words], env=os.environ | {"WORKBENCH_CLUSTERS": str(base)}, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.startswith(b"usage: tests/clusters/setup ")) == (2, True)
    assert not base.exists()
