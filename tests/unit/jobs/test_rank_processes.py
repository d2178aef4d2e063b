"""Processes of the other ranks of a run."""

import errno
import subprocess

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
