"""A checkpoint is whole or refused, and never runs code."""

import os
import pickle
import subprocess

import pytest
import torch

from workbench.problem import Problem
from workbench.training import checkpoint


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "last.pt"
    checkpoint.save(path, {"w": torch.arange(1000.0), "n": 3, "random": checkpoint.rng_state(torch.device("cpu"))})
    return path


@pytest.fixture
def small_files():
    """Files of this process end at 64 KiB: what a full disk does to whoever writes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_takes_no_more_is_said_and_the_old_checkpoint_stays(whole, small_files):
    with pytest.raises(Problem, match=r"last\.pt could not be written \(File too large\)\. What was there before is"):
        checkpoint.save(whole, {"w": torch.zeros(1_000_000)})
    assert checkpoint.load(whole)["n"] == 3
    assert list(whole.parent.iterdir()) == [whole]


def test_round_trip(whole):
    assert torch.equal(checkpoint.load(whole)["w"], torch.arange(1000.0))


@pytest.mark.parametrize("cut", [0, 1, 100, 2000])
def test_cut_short_is_refused(whole, cut):
    whole.write_bytes(whole.read_bytes()[:cut])
    with pytest.raises(Problem, match="not a complete checkpoint"):
        checkpoint.load(whole)


def test_one_flipped_bit_in_the_weights_is_found(whole):
    data = bytearray(whole.read_bytes())
    at = data.find(torch.arange(1000.0).numpy().tobytes())
    assert at > 0
    data[at + 40] ^= 1
    whole.write_bytes(data)
    with pytest.raises(Problem, match="damaged"):
        checkpoint.load(whole)


class Bomb:
    def __reduce__(self):
        return subprocess.run, (["true"],)


def test_code_in_a_checkpoint_is_refused(tmp_path):
    torch.save({"w": Bomb()}, tmp_path / "bomb.pt")
    with pytest.raises(Problem):
        checkpoint.load(tmp_path / "bomb.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(Problem):
        checkpoint.load(tmp_path / "plain.pt")


def test_a_tensor_larger_than_its_file_is_refused(tmp_path):
    torch.save({"w": torch.zeros(1).expand(10**5, 10**5)}, tmp_path / "hollow.pt")
    with pytest.raises(Problem, match="larger than its stored data"):
        checkpoint.load(tmp_path / "hollow.pt")


def test_a_failed_save_leaves_the_old_one(whole, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises((Problem, OSError)):
        checkpoint.save(whole, {"w": torch.zeros(1)})
    assert torch.equal(checkpoint.load(whole)["w"], torch.arange(1000.0))


@pytest.fixture
def two_gpus(monkeypatch):
    """The random states of two pretended GPUs, by number."""
    states = {0: torch.tensor([0], dtype=torch.uint8), 1: torch.tensor([1], dtype=torch.uint8)}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: states[torch.device(device).index])
    monkeypatch.setattr(
        torch.cuda, "set_rng_state", lambda state, device: states.__setitem__(torch.device(device).index, state)
    )
    return states


def test_the_random_state_of_a_run_goes_with_it_to_another_gpu(two_gpus):
    state = checkpoint.rng_state(torch.device("cuda:1"))
    checkpoint.set_rng_state(state, torch.device("cuda:0"))
    assert two_gpus[0].item() == 1


@pytest.mark.parametrize(("gpu", "of"), [("cuda:0", 0), ("cuda:1", 1)])
def test_a_checkpoint_of_an_older_workbench_has_states_of_all_gpus_of_its_machine(two_gpus, gpu, of):
    old = {"torch": torch.get_rng_state(), "cuda": [torch.tensor([number]) for number in (10, 11)]}
    checkpoint.set_rng_state(old, torch.device(gpu))
    assert two_gpus[torch.device(gpu).index].item() == 10 + of
    checkpoint.set_rng_state(old | {"cuda": old["cuda"][:1]}, torch.device(gpu))  # of a machine with one GPU
    assert two_gpus[torch.device(gpu).index].item() == 10


def test_a_run_on_the_cpu_leaves_gpus_alone(two_gpus, monkeypatch):
    monkeypatch.delattr(torch.cuda, "get_rng_state")
    state = checkpoint.rng_state(torch.device("cpu"))
    monkeypatch.delattr(torch.cuda, "set_rng_state")
    checkpoint.set_rng_state(state | {"cuda": two_gpus[0]}, torch.device("cpu"))
    assert state.keys() == {"torch"}


def test_the_random_state_of_an_apple_gpu_is_restored(monkeypatch):
    states = [torch.tensor([7])]
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: states[-1])
    monkeypatch.setattr(torch.mps, "set_rng_state", states.append)
    state = checkpoint.rng_state(torch.device("mps"))
    states.append(torch.tensor([8]))
    checkpoint.set_rng_state(state, torch.device("mps"))
    assert states[-1].item() == 7


@pytest.mark.parametrize(("deterministic", "before", "after"), [
    (True, None, ":4096:8"), (True, ":16:8", ":16:8"), (False, None, None),
])  # fmt: skip
def test_a_deterministic_run_asks_cublas_for_one_order_of_its_sums(monkeypatch, deterministic, before, after):
    monkeypatch.setattr(torch, "use_deterministic_algorithms", lambda wanted, warn_only: None)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", torch.backends.cudnn.benchmark)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", before or "")
    if before is None:
        monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    checkpoint.seed_everything(0, deterministic)
    assert os.environ.get("CUBLAS_WORKSPACE_CONFIG") == after


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are POSIX's")
def test_a_pipe_in_the_place_of_a_checkpoint_is_refused(tmp_path):
    os.mkfifo(tmp_path / "last.pt")
    with pytest.raises(Problem, match="it is not a regular file"):
        checkpoint.load(tmp_path / "last.pt")
