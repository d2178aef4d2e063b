"""A step on the CPU that does not fit into the memory is refused before it is tried, which may end the program."""

import contextlib
import os
import signal
import sys

import pytest
import torch
from torch import nn

from workbench import cli, machine_memory
from workbench.jobs import ToldProcess
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.running import building, engine
from workbench.running.preflight import preflight
from workbench.running.processes import own_process
from workbench.running.unusable import refuse_unusable
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.training import device
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps
from workbench.workspace.paths import DATABASE

LARGE = ("training.batch_size=512", "device=cpu")


@pytest.fixture
def room(monkeypatch):
    """Has the machine as much free memory as a test says."""

    def of(size):
        monkeypatch.setattr(machine_memory, "obtainable", lambda: size)

    return of


def kept_of(config):
    """Bytes that a real forward pass of the config's batch keeps, without the weights and the head."""
    data = building.load_data(config, quiet)
    parts = building.build_parts(config, data, 10)
    parts.model.train()
    storages, held = {}, []

    def keep(tensor):
        held.append(tensor)
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    side = data.images.image_size
    images = torch.zeros(config.training.batch_size, data.images.channels, side, side)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        parts.model.features(images)
    data.close()
    return sum(storages.values())


def test_what_is_refused_is_no_more_than_what_a_real_step_keeps(room):
    config = read_config("sample-digits", LARGE)
    kept = kept_of(config)
    room(int(0.9 * kept))
    with pytest.raises(Problem):
        refuse_unusable(config, quiet)
    room(int(1.1 * kept))
    assert refuse_unusable(config, quiet) is not None


@pytest.mark.parametrize("check", [refuse_unusable, preflight])
def test_the_batch_is_named_with_one_that_may_fit(room, monkeypatch, check):
    room(20 << 20)
    monkeypatch.setattr(engine, "build_parts", lambda *_: pytest.fail("a step would have been tried"))
    config = read_config("sample-digits", LARGE)
    with pytest.raises(Problem, match=r"needs at least .* for 512 images at once, and .* are free") as problem:
        check(config, quiet)
    assert problem.value.field == "training.batch_size"
    assert 2 <= problem.value.fits < 512
    assert f"a batch of {problem.value.fits}" in problem.value.todo


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_a_batch_that_is_proposed_beside_large_weights_is_taken(room, precision):
    config = read_config("sample-digits", (*LARGE, "backbone.name=resnet18", f"training.precision={precision}"))
    room(70 << 20)  # the weights have 45 MB
    with pytest.raises(Problem, match="a batch of") as problem:
        refuse_unusable(config, quiet)
    smaller = config.training.model_copy(update={"batch_size": problem.value.fits})
    assert refuse_unusable(config.model_copy(update={"training": smaller}), quiet) is not None


def test_no_batch_is_proposed_where_the_weights_leave_no_room(room):
    room(45 << 20)
    with pytest.raises(Problem, match=r"45 MB of it for the weights, .* Choose a smaller network") as problem:
        refuse_unusable(read_config("sample-digits", (*LARGE, "backbone.name=resnet18")), quiet)
    assert (problem.value.field, problem.value.fits) == ("backbone.name", None)


def test_the_memory_of_preflight_is_compared_before_weights_are_read(room, tmp_path):
    room(20 << 20)
    weights = tmp_path / "w.pth"
    weights.touch()  # nobody can read it
    named = ("backbone.name=resnet18", "backbone.weights=file", f"backbone.weights_file={weights}")
    with pytest.raises(Problem, match="A step on the CPU needs at least"):
        preflight(read_config("sample-digits", (*LARGE, *named)), quiet)


def test_a_chunk_counts_in_place_of_the_batch_and_is_proposed_where_it_is_possible(room):
    vit = ("backbone.name=timm", "backbone.model=test_vit", "backbone.weights=none", "dataset.image_size=32")
    config = read_config("sample-digits", (*LARGE, *vit))
    room(20 << 20)
    with pytest.raises(Problem, match=r"a chunk of \d+") as problem:
        refuse_unusable(config, quiet)
    chunked = config.model_copy(update={"training": config.training.model_copy(update={"chunk": 4})})
    assert refuse_unusable(chunked, quiet) is not None
    assert problem.value.fits is not None


@pytest.mark.parametrize("change", ["training.backbone_lr=0", "training.batch_size=16"])
def test_a_frozen_or_small_step_is_not_refused(room, change):
    room(20 << 20)
    assert refuse_unusable(read_config("sample-digits", (*LARGE, change)), quiet) is not None


def test_the_devices_that_train_count_in_place_of_those_of_the_config(room, monkeypatch):
    room(20 << 20)
    monkeypatch.setattr(device, "refuse_missing", lambda name: None)
    config = read_config("sample-digits", LARGE)
    assert refuse_unusable(config, quiet, devices=["cuda:0"]) is not None
    with pytest.raises(Problem, match="A step on the CPU needs at least"):
        refuse_unusable(config.model_copy(update={"device": "cuda"}), quiet, devices=["cpu", "cpu"])


def test_a_run_of_the_command_line_is_refused_before_it_is_made(room, tmp_path, capsys):
    room(20 << 20)
    words = [word for change in LARGE for word in ("--set", change)]
    assert cli.main(["run", "sample-digits", *words, "--workspace", str(tmp_path)]) == 1
    assert "A step on the CPU needs at least" in capsys.readouterr().err
    assert not (tmp_path / DATABASE).exists()


@pytest.mark.parametrize(("varied", "fails"), [("training.lr=0.1,0.2", 1), ("training.batch_size=512,16", 0)])
def test_a_sweep_is_refused_where_no_setting_may_fit(room, tmp_path, capsys, monkeypatch, varied, fails):
    room(20 << 20)
    monkeypatch.setattr(starting, "work_apart", lambda *_, **__: True)
    words = [word for change in LARGE for word in ("--set", change)]
    start = [
        "sweep",
        "start",
        "sample-digits",
        "-p",
        varied,
        *words,
        "--workspace",
        str(tmp_path / "space"),
        "--detach",
    ]
    assert cli.main(start) == fails
    assert ("A step on the CPU needs at least" in capsys.readouterr().err) == bool(fails)


def test_a_setting_that_does_not_fit_fails_alone_and_the_sweep_goes_on(room, tmp_path, capsys):
    room(20 << 20)
    small = ("training.epochs=1", "backbone.width=8", "evaluation.probe_size=0", "device=cpu")
    words = [word for change in small for word in ("--set", change)]
    start = ["sweep", "start", "sample-digits", "-p", "training.batch_size=512,16", *words]
    assert cli.main([*start, "--workspace", str(tmp_path)]) == 0
    with Workspace(tmp_path) as workspace:
        first, second = sweeps.trials(workspace, 1)
    assert (first.state, second.state) == ("failed", "done")
    assert "A step on the CPU needs at least" in first.problem
    assert "Nothing was trained; run 1 is kept as failed." in first.problem


@pytest.mark.skipif(sys.platform == "win32", reason="it has no signals")
def test_a_setting_that_the_system_ends_for_want_of_memory_fails_alone_and_the_sweep_goes_on(
    room, tmp_path, monkeypatch, capsys
):
    small = ("training.epochs=1", "backbone.width=8", "evaluation.probe_size=0", "device=cpu")
    room(int(1.1 * kept_of(read_config("sample-digits", (*small, "training.batch_size=512")))))

    class Ended(ToldProcess):
        """A process that is ended as the kernel does it."""

        def __init__(self, *words):
            super().__init__(*words)
            os.kill(self.pid, signal.SIGKILL)

    monkeypatch.setattr(own_process, "ToldProcess", Ended)
    words = [word for change in small for word in ("--set", change)]
    start = ["sweep", "start", "sample-digits", "-p", "training.batch_size=512,16", *words]
    assert cli.main([*start, "--workspace", str(tmp_path)]) == 0
    with Workspace(tmp_path) as workspace:
        first, second = sweeps.trials(workspace, 1)
        assert (workspace.run(1).status, workspace.run(2).status) == ("failed", "done")
    assert (first.state, second.state) == ("failed", "done")
    assert "was ended by SIGKILL, as systems do when memory runs out" in first.problem


def test_the_limit_of_a_container_is_named_and_to_be_raised(room, monkeypatch):
    room(20 << 20)
    monkeypatch.setattr(machine_memory, "limit", lambda: machine_memory.Limit(1 << 30, 0, 0))
    with pytest.raises(Problem, match=r"are free of the 1\.1 GB that the container or job may have") as problem:
        refuse_unusable(read_config("sample-digits", LARGE), quiet)
    assert problem.value.todo.endswith("or raise that limit.")


class Fused(nn.Module):
    """Attention as timm has it."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, tokens):
        query, key, value = self.qkv(tokens).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4)
        return self.out(nn.functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))


class OfTorch(nn.Module):
    """Attention as open_clip and torchvision have it."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, tokens):
        return self.attention(tokens, tokens, tokens, need_weights=False)[0]


class Biased(Fused):
    """Attention as BEiT, MaxViT and TinyViT have it: with a trained bias for each pair of tokens."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1, 4, 50, 50))

    def forward(self, tokens):
        query, key, value = self.qkv(tokens).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=self.bias)
        return self.out(mixed.transpose(1, 2).flatten(2))


class OfBlocks(Fused):
    """Attention as NesT has it: among the tokens of each of several parts of an image, in five dimensions."""

    def forward(self, tokens):
        query, key, value = self.qkv(tokens).unflatten(-1, (3, 4, 8)).unflatten(1, (2, 25)).permute(3, 0, 4, 1, 2, 5)
        return self.out(nn.functional.scaled_dot_product_attention(query, key, value).transpose(1, 3).flatten(3))


class Dropping(nn.Module):
    """Attention with dropout."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, dropout=0.5, batch_first=True)

    def forward(self, tokens):
        return self.attention(tokens, tokens, tokens, need_weights=False)[0]


@pytest.mark.parametrize("attention", [Fused, OfTorch, Biased, OfBlocks, Dropping])
def test_attention_keeps_no_more_without_numbers_than_on_the_cpu(attention):
    from workbench.running.facts.lean_attention import LeanAttention

    def kept(where, mode):
        storages = {}

        def keep(tensor):
            storage = tensor.untyped_storage()
            storages[id(storage)] = storage
            return tensor

        network, tokens = attention().to(where), torch.zeros(2, 50, 32, device=where, requires_grad=True)
        with mode, torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            out = network(tokens)  # and what it keeps
        assert out.numel() == tokens.numel()
        return sum(storage.nbytes() for storage in storages.values())

    sums = 2 * 4 * 50 * 4  # bytes of the logarithms that the fused one keeps beside
    assert 0 <= kept("cpu", contextlib.nullcontext()) - kept("meta", LeanAttention()) <= sums
