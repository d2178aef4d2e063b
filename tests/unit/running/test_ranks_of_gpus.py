"""GPUs that cannot train together are refused before NCCL starts; a rank that fails does not wait for the others."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.running.devices import launched_ranks, together
from workbench.training import ranks
from workbench.training.rank_network import Lost

GPU = torch.device("cuda", 0)
SCRIPT = """
import socket, sys, torch
import torch.distributed as dist
from pathlib import Path
from workbench.problem import Problem
from workbench.training import ranks

rank, folder = int(sys.argv[1]), Path(sys.argv[2])
dist.is_nccl_available, dist.new_group = lambda: True, lambda **named: print(named["backend"])
for number, name in enumerate((f"GPU-{rank}", "GPU-5ca1ab1e")):
    ranks.name_of_gpu = lambda device: name
    try:
        ranks.Ranks(folder / f"meeting {number}", rank, 2, torch.device("cuda", 0)).leave()
    except Problem as problem:
        print(problem.what.replace(socket.gethostname(), "HOST"))
    print(dist.is_initialized())
"""


@pytest.mark.slow
def test_two_ranks_with_one_gpu_are_refused_by_name_and_two_with_the_same_number_are_not(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(rank), str(tmp_path)], stdout=subprocess.PIPE, text=True,
            cwd=Path(__file__).parents[3],
        )
        for rank in range(2)
    ]  # fmt: skip
    lines = [process.communicate()[0].splitlines() for process in processes]
    said = [[line for line in of_rank if not line.startswith("[Gloo]")] for of_rank in lines]  # torch 2.10 writes them
    refused = "Ranks 0 and 1 of this run have the same GPU: GPU-5ca1ab1e of HOST."
    assert said == [["nccl", "False", refused, "False"]] * 2


def test_a_torch_without_nccl_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(dist, "is_nccl_available", lambda: False)
    monkeypatch.setattr(dist, "init_process_group", lambda *words, **named: pytest.fail("a group was made"))
    with pytest.raises(Problem, match="has no NCCL") as refused:
        ranks.Ranks(tmp_path / "meeting", 0, 2, GPU)
    assert "Train on one GPU" in refused.value.todo


@pytest.fixture
def done(monkeypatch):
    """What is done to pretended groups of processes."""
    steps = []

    class Group:
        def abort(self):
            steps.append("aborted")

    def gather(names, own):
        names[:] = [own, "another"]

    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    monkeypatch.setattr(dist, "init_process_group", lambda *words, **named: None)
    monkeypatch.setattr(dist, "all_gather_object", gather)
    monkeypatch.setattr(dist, "new_group", lambda **named: Group())
    monkeypatch.setattr(dist, "destroy_process_group", lambda: steps.append("left"))
    monkeypatch.setattr(ranks, "name_of_gpu", lambda device: "GPU-0", raising=False)
    monkeypatch.setattr(launched_ranks, "own_device", lambda place, config: GPU)
    return steps


@pytest.mark.parametrize("same", [True, False])
def test_ranks_whose_gpus_have_the_same_name_are_refused(done, monkeypatch, tmp_path, same):
    def gather(names, own):
        names[:] = [own, own if same else "another"]

    monkeypatch.setattr(dist, "all_gather_object", gather)
    refused = pytest.raises(Problem, match="Ranks 0 and 1 of this run have the same GPU: GPU-0 of ")
    with refused if same else nullcontext():
        ranks.Ranks(tmp_path / "meeting", 0, 2, GPU).leave()
    assert done == ["left"]


MEET = {
    "started": lambda folder: together.meet(
        together.Order(f"{folder}/meeting", 0, ("cuda:0", "cuda:1"), "", ""), GPU, RunConfig()
    ),
    "launched": lambda folder: launched_ranks.meet_launched(
        launched_ranks.Launched(0, 2, 0, "tcp://127.0.0.1:1"), RunConfig()
    ),
}


@pytest.mark.parametrize("way", MEET)
def test_what_a_gpu_still_exchanges_is_ended_only_after_an_error(way, done, tmp_path):
    with MEET[way](tmp_path):
        pass
    assert done == ["left"]
    with pytest.raises(Lost), MEET[way](tmp_path):
        raise Lost("its connection was closed", late=False)
    assert done == ["left", "aborted", "left"]
