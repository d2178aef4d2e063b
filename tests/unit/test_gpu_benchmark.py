"""The script for a GPU does all that it does on a CPU, too, in small."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu

    yield gpu
    for name in ("gpu", "loss_cost", "loss_peers"):
        sys.modules.pop(name, None)


def test_every_part_gives_its_rows(gpu, capsys):
    assert gpu.main(["--device", "cpu", "--tiny", "--parts", *(name for name in gpu.PARTS if name != "window")]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")][1:]
    assert all(row.count("|") == 7 for row in rows), "the columns of docs/benchmarks.md"
    for words in (
        "trainer with JPEG", "implicit synchronisations", "Decoding and encoding", "Feed alone", "Loss ccp",
        "All metrics", "float32 against the CPU", "interrupted at step 20", "does not fit into the memory",
    ):  # fmt: skip
        assert any(words in row for row in rows), words
    (resumed,) = (row for row in rows if "interrupted at step 20" in row)
    assert " | 0.0e+00 | " in resumed
    assert resumed.endswith(" | 0 | |")


def test_a_part_that_fails_says_so_and_the_others_run(gpu, capsys, monkeypatch):
    monkeypatch.setitem(gpu.PARTS, "feed", lambda bench: 1 / 0)
    assert gpu.main(["--device", "cpu", "--tiny", "--parts", "feed", "memory"]) == 1
    said = capsys.readouterr().out
    assert "failed: ZeroDivisionError" in said
    assert "does not fit into the memory" in said
