"""Ranks of one machine add up their gradients in memory that they have in common, where the system gives it."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tests.waits import HANG
from workbench.training import shared_sums
from workbench.training.lines import Lines
from workbench.training.shared_sums import SharedSums

pytestmark = pytest.mark.skipif(not Lines.there, reason="this system has no such sockets")


@pytest.fixture(params=[2, 3])
def all_ranks(request, tmp_path_factory):
    """`all_ranks(work)`: what `work(lines, rank)` gives, done by each rank on a thread of its own."""
    count, folder = request.param, tmp_path_factory.mktemp("r")  # names of sockets are short
    barrier = threading.Barrier(count)

    def meet_and_work(work, rank):
        lines = Lines(folder / "m", rank, count, lambda: barrier.wait(HANG), HANG)
        try:
            return work(lines, rank)
        finally:
            lines.close()

    def every(work):
        with ThreadPoolExecutor(count) as pool:
            return [done.result() for done in [pool.submit(meet_and_work, work, rank) for rank in range(count)]]

    return every


def twice(sums):
    """What the first call sent may have arrived nowhere."""
    sums.mean()
    sums.mean()


@pytest.mark.parametrize("size", [1, 7, 40_000])
def test_every_rank_gets_the_mean_again_and_again(all_ranks, size):
    def work(lines, rank):
        sums, means = SharedSums(lines, torch.empty(size, dtype=torch.float64)), []
        assert sums.there
        for turn in range(3):
            torch.arange(size, dtype=torch.float64, out=sums.own)
            sums.own.add_(rank + 10 * turn)
            means.append(sums.mean().clone())
        return means

    results = all_ranks(work)
    ranks = len(results)
    for means in results:
        for turn, mean in enumerate(means):
            expected = torch.arange(size, dtype=torch.float64) + 10 * turn + (ranks - 1) / 2
            torch.testing.assert_close(mean, expected, rtol=0, atol=1e-11)
            assert torch.equal(mean, results[0][turn]), "bit for bit on all ranks"


def test_without_memory_no_rank_has_any_and_the_lines_go_on(all_ranks, monkeypatch):
    monkeypatch.setattr(shared_sums, "shared_memory", lambda size: None)

    def work(lines, rank):
        assert not SharedSums(lines, torch.empty(5)).there
        return lines.flag(rank == 0)

    assert all(all_ranks(work))


def test_a_rank_that_ended_is_noticed_by_the_others(all_ranks):
    def work(lines, rank):
        sums = SharedSums(lines, torch.empty(5))
        if rank == 1:
            return True
        with pytest.raises((ConnectionError, BrokenPipeError)):
            twice(sums)
        return True

    assert all(all_ranks(work))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are not listed here")
def test_no_file_stays_open(all_ranks):
    before = set(os.listdir("/proc/self/fd"))
    all_ranks(lambda lines, rank: SharedSums(lines, torch.empty(500)).there)
    assert set(os.listdir("/proc/self/fd")) <= before
