"""Memory of a data set of very many small files, from the scan of its folder to the search for copies.

    python tests/benchmarks/many_files.py [--files 300000] [--classes 3000] [--flat]

Makes that many empty files in folders of classes (--flat: all in two), finds them as the data set "folder" does, and
prints bytes per file: the peak of the process above its start, and what stays. It also prints the same scaled to 10
million. Nothing is decoded: the search for copies gets numbers of 8 bytes in place of pixels.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil

SCALED = 10_000_000


def make(root: Path, files: int, classes: int) -> None:
    """Empty files 0000000.jpg and on, dealt to folders class00000 and on."""
    for number in range(classes):
        (root / f"class{number:05d}").mkdir()
    for number in range(files):
        os.close(os.open(root / f"class{number % classes:05d}" / f"{number:07d}.jpg", os.O_CREAT))


def look(root: Path) -> None:
    """Bytes per file of each step, in this process."""
    from workbench import registry
    from workbench.datasets.inspection import copies, shared_images
    from workbench.datasets.split import rows_by_class
    from workbench.progress import quiet

    registry.discover("workbench.datasets")
    entry = registry.entry("dataset", "folder")
    process = psutil.Process()
    start = process.memory_info().rss
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

    def tell(step: str, since: float, count: int) -> None:
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - max(start, before)
        kept = process.memory_info().rss - start
        print(
            f"{step:22} {perf_counter() - since:6.2f} s  peak {peak / count:.1f}, kept {kept / count:.1f} bytes a file;"
            f" {SCALED / 1e6:.0f} million: {peak / count * SCALED / 1e9:.2f} GB"
        )

    since = perf_counter()
    images = entry.build(entry.params(folder=str(root)), progress=quiet)
    count = len(images.paths)
    tell("found, labels and ids", since, count)
    since = perf_counter()
    assert images.fingerprint
    assert images.stamp
    tell("fingerprint and stamp", since, count)
    since = perf_counter()
    rows_by_class(images.labels)
    tell("rows by class", since, count)
    since = perf_counter()
    squares = (np.arange(count, dtype=np.uint64) << 32).view(np.uint8).reshape(count, 2, 4, 1)
    assert copies(squares, quiet) == []
    tell("search for copies", since, count)
    since = perf_counter()
    entry = registry.entry("split", "classes")
    shared_images(squares, entry.build(entry.params(), images, 0), quiet)
    tell("images of both sets", since, count)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=300_000)
    parser.add_argument("--classes", type=int, default=3_000)
    parser.add_argument("--flat", action="store_true")
    parser.add_argument("--look", type=Path)
    args = parser.parse_args()
    if args.look:
        look(args.look)
        return
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), args.files, 2 if args.flat else args.classes)
        print(f"{args.files:,} files in {2 if args.flat else args.classes:,} folders")
        sys.stdout.flush()
        subprocess.run([sys.executable, __file__, "--look", folder], check=True)


if __name__ == "__main__":
    main()
