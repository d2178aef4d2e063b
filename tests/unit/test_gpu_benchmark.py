"""The script for a GPU does all that it does on a CPU, too, in small; no part can spoil another."""

import argparse
import contextlib
import sys
import warnings
from pathlib import Path

import pytest
import torch

from workbench.training import checkpoint
from workbench.training.feed import Feed

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ENOUGH = "3000"  # seconds, also on a busy machine


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu

    with checkpoint.settings_of_one_run():
        yield gpu
    for name in ("gpu", "timed_parts", "loss_cost", "loss_peers"):
        sys.modules.pop(name, None)


@pytest.fixture
def bench(gpu, tmp_path):
    return gpu.Bench(argparse.Namespace(device="cpu", tiny=True), tmp_path)


@pytest.fixture
def scripts(gpu, monkeypatch):
    """Python by the part's name, which is run instead of it."""
    text = {}
    monkeypatch.setattr(gpu, "command_of", lambda name, args, folder: [sys.executable, "-c", text[name]])
    return text


def rows_of(said):
    return [line for line in said.splitlines() if line.startswith("| ")][1:]


@pytest.mark.slow
def test_every_part_gives_its_rows(gpu, capsys, tmp_path):
    words = ["--device", "cpu", "--tiny", "--inside", str(tmp_path), "--parts"]
    for name in gpu.PARTS:
        assert name == "window" or gpu.main([*words, name]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert all(row.count("|") == 7 for row in rows), "the columns of docs/benchmarks.md"
    for figure in (
        "trainer with JPEG", "implicit synchronisations", "Decoding", "Feed alone", "Loss ccp",
        "All metrics", "float32 against the CPU", "interrupted at step 20", "does not fit into the memory",
    ):  # fmt: skip
        assert any(figure in row for row in rows), figure
    (resumed,) = (row for row in rows if "interrupted at step 20" in row)
    assert " | 0.0e+00 | " in resumed
    assert resumed.endswith(" | 0 | |")


@pytest.mark.slow  # the tests below have parts in processes of their own
def test_a_part_has_a_process_of_its_own_and_rows_are_written_at_once(gpu, capsys, tmp_path):
    words = ["--device", "cpu", "--tiny", "--seconds", ENOUGH, "--out", str(tmp_path / "rows.md")]
    assert gpu.main([*words, "--parts", "metrics"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("cpu, ")
    (row,) = rows_of(said)
    assert "All metrics" in row
    assert (tmp_path / "rows.md").read_text("utf-8") == said


def test_a_part_that_fails_is_named_with_its_error_and_the_others_run(gpu, capsys, scripts):
    scripts |= {
        "trainer": "print('| one row |', flush=True); import os; os.abort()",
        "metrics": "raise ValueError('a device that\\n is lost')",
        "feed": "print('| a row of the feed |')",
    }
    assert gpu.main(["--parts", "feed", "metrics", "trainer"]) == 1
    first, aborted, failed, last = rows_of(capsys.readouterr().out)
    assert (first, last) == ("| one row |", "| a row of the feed |")
    assert aborted.startswith("| trainer |")
    assert "failed" in aborted
    assert "failed: " in failed
    assert "is lost" in failed


def test_the_rest_that_does_not_fit_into_the_time_is_named(gpu, capsys, scripts, monkeypatch):
    monkeypatch.setattr(gpu, "PARTS", {"trainer": (None, 2.0), "metrics": (None, 50.0), "feed": (None, 1.0)})
    hang = "import subprocess, sys, time; print('| a row before it hangs |', flush=True); "
    hang += "subprocess.run([sys.executable, '-c', 'import time; time.sleep(900)'])"
    scripts |= {"trainer": hang, "metrics": "print('| too long |')", "feed": "print('| short |')"}
    assert gpu.main(["--seconds", "30"]) == 1
    said = capsys.readouterr().out
    first, late, last = rows_of(said)
    assert (first, last) == ("| a row before it hangs |", "| short |")
    assert "ended after 4 s" in late, "twice its estimate, because the time of the others begins"
    assert "of 30 s were used; no time was left for metrics." in said.splitlines()[-1]


def test_a_loss_that_fails_leaves_the_rows_of_the_others(gpu, bench, capsys, monkeypatch):
    import loss_cost

    monkeypatch.setattr(gpu, "list_losses", lambda: ["center", "ce"])
    monkeypatch.setattr(loss_cost, "BARE", {})
    monkeypatch.setattr(loss_cost, "PML", {})
    real = loss_cost.built

    def built(name, *sizes):
        if name == "center":
            raise torch.AcceleratorError("CUDA error: an illegal memory access")
        return real(name, *sizes)

    monkeypatch.setattr(loss_cost, "built", built)
    with pytest.raises(RuntimeError, match="could not be measured: center"):
        gpu.losses(bench)
    control, failed, measured = capsys.readouterr().out.splitlines()
    assert "against the same loss" in control
    assert "illegal memory access" in failed
    assert "Loss ce" in measured


def test_a_part_is_measured_with_the_settings_of_a_run(gpu, monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    monkeypatch.setitem(gpu.PARTS, "feed", (lambda bench: seen.append(torch.backends.cudnn.benchmark), 1.0))
    assert gpu.main(["--device", "cpu", "--parts", "feed", "--inside", str(tmp_path)]) == 0
    assert seen == [True]


def test_a_wait_for_the_next_batch_counts(gpu, bench, monkeypatch):
    inside, seen = [], []
    real = Feed.training

    @contextlib.contextmanager
    def watched(bench, found):
        inside.append(True)
        yield
        inside.pop()

    def training(self, *arguments, **named):
        batches = real(self, *arguments, **named)

        def watching(epoch, skip):
            for batch in batches(epoch, skip):
                seen.append(bool(inside))
                yield batch

        return watching

    monkeypatch.setattr(gpu, "synchronisations", watched)
    monkeypatch.setattr(Feed, "training", training)
    gpu.waiting(bench)
    assert seen == [True] * 8


def test_synchronisations_are_noted_and_the_mode_is_restored(gpu, bench, monkeypatch):
    modes, found = [2], []
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: modes[0])
    bench.device = torch.device("cuda")
    with gpu.synchronisations(bench, found):
        warnings.warn("called a synchronizing CUDA operation", stacklevel=1)
        warnings.warn("anything else", stacklevel=1)
    assert [place.partition(":")[0] for place in found] == ["test_gpu_benchmark.py"]
    assert modes == [2, "warn", 2]


def test_the_peak_of_a_row_is_that_since_the_row_began(gpu, bench, monkeypatch):
    peak = [9 << 20]
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: peak[0])
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: peak.__setitem__(0, 0))
    bench.device = torch.device("cuda")
    bench.begin_row()
    peak[0] = max(peak[0], 3 << 20)
    assert [bench.peak(), bench.peak()] == [", peak 3 MiB"] * 2


def test_tf32_is_off_only_while_a_device_is_compared_with_the_cpu(gpu, bench, monkeypatch):
    switches = torch.backends.cuda.matmul, torch.backends.cudnn
    before = [switch.allow_tf32 for switch in switches]
    seen = []
    monkeypatch.setattr(gpu, "agreement_of", lambda *what: seen.append([switch.allow_tf32 for switch in switches]))
    try:
        for switch in switches:
            switch.allow_tf32 = True
        gpu.agreement(bench)
        assert seen == [[False, False]] * len(bench.models)
        assert [switch.allow_tf32 for switch in switches] == [True, True]
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.allow_tf32 = value


def test_all_memory_of_a_device_is_taken(gpu):
    left = [10_000_000_123]

    def ask(size):
        if size > left[0]:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        left[0] -= size
        return size

    assert sum(gpu.all_memory(ask)) == 10_000_000_123 - left[0]
    assert left[0] < 512
