"""Processes of the other ranks of a run."""

import errno
import os
import subprocess
import sys

import psutil
import pytest

from workbench import jobs
from workbench.problem import Problem


def test_a_rank_that_cannot_be_started_ends_those_before_it(monkeypatch):
    started = []
    start = subprocess.Popen

    def second_fails(*args, **options):
        if started:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        started.append(start(*args, **options))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", second_fails)
    with pytest.raises(Problem, match=r"Rank 2 of this run cannot be started \(Resource temporarily unavailable\)"):
        jobs.RankProcesses("tests.unit.training.spread", [{}, {}])
    assert not psutil.pid_exists(started[0].pid)


def test_why_a_rank_ended_is_read_with_all_its_letters(tmp_path, monkeypatch):
    """A file that a process of Windows writes has the characters of the country, if nothing else was asked for."""
    (tmp_path / "rank_that_refuses.py").write_text(
        "from workbench.jobs import serve_rank\n"
        "from workbench.problem import Problem\n"
        "def refuse(order):\n"
        "    raise Problem('“Käfer” has −1 images.')\n"
        "serve_rank(refuse)\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), *sys.path)))
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    ranks = jobs.RankProcesses("rank_that_refuses", [{}])
    try:
        ranks.wait_until_ready()
        assert ranks.why_lost() == "“Käfer” has −1 images."
    finally:
        ranks.close()
