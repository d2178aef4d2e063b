"""Ten million small files in the window: seconds, peak memory and longest stall while Set up examines their folder.

    python tests/benchmarks/many_files_window.py [--files 10000000] [--classes 10000] [--folder FOLDER]

Makes that many image files of 8 px in FOLDER (by default a folder made for this call; hard links to a few files, so
that they take little room on disk), then opens a window offscreen, chooses the folder on Set up and waits for
Preflight: it lists the files, decodes all, looks for images of both sets and tries a few steps. The window's memory
is sampled five times a second: resident memory (RSS) counts files that are mapped, "own" does not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil
from driven_window import STEP, DrivenWindow, tell
from PIL import Image
from ten_million import Peaks

LINKS = 60_000  # of one file; ext4 allows 65,000
SIDE = 8  # px


def make(root: Path, files: int, classes: int) -> None:
    """Images class00000/00000000.png and on; `classes` folders of equal size."""
    pixels = np.random.default_rng(0)
    of_class = files // classes
    source = root
    for number in range(of_class * classes):
        label, at = divmod(number, of_class)
        folder = root / f"class{label:05d}"
        if not at:
            folder.mkdir(parents=True)
        path = f"{folder}/{number:08d}.png"
        if number % LINKS:
            os.link(source, path)
        else:
            source = Path(path)
            Image.fromarray(pixels.integers(0, 256, (SIDE, SIDE), np.uint8)).save(source)


def show(folder: Path) -> None:
    """Choose the folder on Set up and wait for Preflight; each of its parts is a step."""
    from workbench.config import Choice, RunConfig
    from workbench.workspace import Workspace

    Workspace(folder / "space", create=True).close()
    driver = DrivenWindow(folder)
    setup = driver.window.pages.page("setup")
    part, since, ended = "opening", driver.begin(), list[str]()

    def enter(name: str) -> None:
        nonlocal part, since
        if name != part:
            tell(end=part, seconds=perf_counter() - since, stall=1000 * driver.stall)
            part, since = name, driver.begin()

    setup.runner.doing.connect(lambda text: enter("".join(letter for letter in text if not letter.isdigit())[:24]))
    setup.runner.done.connect(lambda result: ended.append(f"{result.images:,} images in {result.classes:,} classes"))
    setup.runner.failed.connect(lambda problem: ended.append(str(problem)))
    params = {"folder": str(folder / "photos"), "image_size": SIDE, "colour": "grey"}
    setup.take_config(RunConfig(name="many", device="cpu", dataset=Choice(name="folder", params=params)))
    while not ended:
        driver.turn(100)
    enter("end")
    print(ended[0], flush=True)
    driver.session.close()
    driver.window.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000_000)
    parser.add_argument("--classes", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--show", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.show:
        show(args.folder)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = (args.folder or Path(made)).absolute()
        if not (folder / "photos").exists():
            make(folder / "photos", args.files, args.classes)
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "WORKBENCH_SETTINGS": str(folder / "settings.ini")}
        command = [sys.executable, __file__, f"--folder={folder}", "--show"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            peaks = Peaks(psutil.Process(process.pid))
            for line in process.stdout:
                if not line.startswith(STEP):
                    print(line, end="", flush=True)
                elif "end" in (fact := json.loads(line.removeprefix(STEP))):
                    used = "{} MB (own {})".format(*(round(most / 1e6) for most in peaks.most["window"]))
                    print(f"{fact['end']:26} {fact['seconds']:8.1f} s  stall {fact['stall']:.0f} ms  most so far {used}"
                          f"  (load {os.getloadavg()[0]:.1f})", flush=True)  # fmt: skip
            print(f"most memory: {peaks.end()}", flush=True)
        if process.returncode:
            raise SystemExit(f"the window ended with {process.returncode}")


if __name__ == "__main__":
    main()
