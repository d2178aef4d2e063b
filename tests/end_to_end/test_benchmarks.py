"""Each benchmark still works: small sizes, in a process of its own. Its figures are not looked at."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.waits import HANG

ROOT = Path(__file__).parents[2]
SMALL = {
    "browse_speed": "--count 400 --classes 40 --neighbours 10",
    "compare_speed": "--runs 4 --points 200 --epochs 2 --seeds 2 --rounds 1",
    "decode_speed": "{photographs} --images 12 --rounds 1 --side 32",
    "decoders": "{photographs} pillow torchvision --images 12 --rounds 1 --side 32",
    "exact_cost": "--counts 400 600 --width 8 --neighbours 10",
    "failures_speed": "--count 400 --classes 40",
    "feed_cost": "--step 0.05 --batch 2 --steps 8 --rounds 1",
    "feed_lock": "--seconds 0.2 --rounds 1",
    "many_files": "--files 600 --classes 6",
    "many_files_window": "--files 600 --classes 6 --folder {empty}",
    "map_drawing": "--points 600 --classes 5 --frames 2 --plain-frames 1 --plain",
    "map_first_picture": "--count 600 --classes 20 --width 8 --rounds 1",
    "map_speed": "--count 600 --width 8 --rounds 1 --plain",
    "million": "--count 2000 --classes 40 --width 8 --no-layout --folder {empty}",
    "rank_rounding": "ce triplet",
    "retrieval_speed": "--count 400 --width 8 --classes 5 --rounds 1",
    "slow_disk_stalls": "--delay 0.01 --settle 1",
    "start": "--rounds 1",
    "step_speed": "{root} --steps 1 --rounds 1",
    "stored_evaluation": "{root} --count 400 --dim 8 --k 5 --rounds 1",
    "ten_million": "--count 20000 --width 8 --classes 100 --queries 3 --folder {empty}",
    "trainer_speed": "--steps 2 --rounds 1",
    "window_stalls": "--seconds 3 --only thread",
}


def write_photographs(folder):
    rng = np.random.default_rng(0)
    for row in range(12):
        path = folder / f"class {row % 3}" / f"{row}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)).save(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_ends_well(name, tmp_path):
    photographs, empty = tmp_path / "photographs", tmp_path / "empty"
    empty.mkdir()
    write_photographs(photographs)
    words = SMALL[name].format(photographs=photographs, empty=empty, root=ROOT).split()
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.{name}", *words],
        cwd=ROOT,
        env=os.environ
        | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'benchmarks'}"},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.strip()
