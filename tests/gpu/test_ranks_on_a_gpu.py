"""A run whose only rank exchanges its batches by NCCL (on the CPU by gloo) is the run without ranks."""

import contextlib
import socket

import pytest
import torch

from tests.gpu.test_runs_on_a_gpu import config_of
from workbench.control import Control
from workbench.events import Scalar
from workbench.progress import quiet
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.training.ranks import OneRank, Ranks


@contextlib.contextmanager
def one_rank(device, **how):
    """The only rank of a run, which met itself at an address: ranks that meet by a file do without gloo on a CPU."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = Ranks(f"tcp://127.0.0.1:{port}", 0, 1, torch.device(device, 0), **how)
    try:
        yield ranks
    finally:
        ranks.leave()


def losses_of(config, folder, ranks):
    """The loss of every step of a run."""
    events = []
    folder.mkdir()
    data = load_data(config, quiet)
    try:
        Engine(config, data, folder, Control(), events.append, ranks=ranks).run()
    finally:
        data.close()
    return [event.value for event in events if isinstance(event, Scalar) and event.name == "batch/loss"]


@pytest.mark.parametrize("shared_norm", [True, False])
def test_a_run_of_one_rank_has_the_losses_of_a_run_without(shared_norm, device, tmp_path):
    config = config_of(device, training={"precision": "float32", "deterministic": True})
    without = OneRank()
    without.device = torch.device(device)
    alone = losses_of(config, tmp_path / "alone", without)
    with one_rank(device, shared_norm=shared_norm) as ranks:
        together = losses_of(config, tmp_path / "together", ranks)
    assert len(alone) > 20
    # Shared batch-norm rounds otherwise, and steps add up: 1.5e-4 after 28 steps on an H100.
    assert together == pytest.approx(alone, rel=1e-3)


def test_ranks_meet_again_after_an_abort(device):
    for _ in range(2):
        with one_rank(device) as ranks:
            rows = torch.arange(6.0, device=ranks.device).view(3, 2)
            assert torch.equal(ranks.whole(rows, [3]), rows)
            ranks.abort()
    assert not torch.distributed.is_initialized()
