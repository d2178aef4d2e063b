"""Decoders of JPEG beside Pillow's: photographs per second and core, from file to centre square, in turns.

    python tests/benchmarks/decoders.py FOLDER [--side 128] [--images 300] [--rounds 15] NAME[=PYTHON] ...

NAME is pillow, torchvision, spdl or simplejpeg; PYTHON an interpreter that has it, this one by default: Pillow-SIMD is
`pillow=ENVIRONMENT/bin/python` of an environment with pillow-simd in place of Pillow. Each is one process on a core of
its own with one thread, and decodes the same files when its turn comes; the order of a round is random. Prints the
median of images per second, of the ratios to the first one named in a round, and the mean and the largest difference of
its pixels from the first one's.
"""

import argparse
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np

Decode = Callable[[str, int], np.ndarray]


def pillow() -> tuple[str, Decode]:
    import PIL
    from PIL import Image, ImageOps, features

    def decode(path: str, side: int) -> np.ndarray:
        with open(path, "rb", buffering=0) as file:
            image = Image.open(io.BytesIO(file.read()), formats=("JPEG",))
        image.draft(None, (2 * side, 2 * side))
        image.load()
        coloured = image if image.mode == "RGB" else image.convert("RGB")
        return np.asarray(ImageOps.fit(coloured, (side, side), Image.Resampling.BICUBIC))

    return f"Pillow {PIL.__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}", decode


def simplejpeg() -> tuple[str, Decode]:
    import simplejpeg as library  # type: ignore[import-not-found]
    from PIL import Image, ImageOps

    def decode(path: str, side: int) -> np.ndarray:
        with open(path, "rb", buffering=0) as file:
            content = file.read()
        pixels = library.decode_jpeg(content, "RGB", min_height=2 * side, min_width=2 * side)
        return np.asarray(ImageOps.fit(Image.fromarray(pixels), (side, side), Image.Resampling.BICUBIC))

    return f"simplejpeg {library.__version__}, resized by Pillow", decode


def torchvision() -> tuple[str, Decode]:
    import torch
    import torchvision as library
    from torch.nn import functional as F
    from torchvision.io import ImageReadMode, decode_image, read_file

    torch.set_num_threads(1)

    def decode(path: str, side: int) -> np.ndarray:
        image = decode_image(read_file(path), ImageReadMode.RGB)
        scale = side / min(image.shape[1:])
        size = [max(side, round(length * scale)) for length in image.shape[1:]]
        resized = F.interpolate(image[None], size, mode="bicubic", antialias=True)[0]
        top, left = ((length - side) // 2 for length in size)
        return np.ascontiguousarray(resized[:, top : top + side, left : left + side].permute(1, 2, 0).numpy())

    return f"torchvision.io {library.__version__}, resized by torch", decode


def spdl() -> tuple[str, Decode]:
    from importlib.metadata import version

    import spdl.io as library  # type: ignore[import-not-found]

    def decode(path: str, side: int) -> np.ndarray:
        scale = f"scale={side}:{side}:force_original_aspect_ratio=increase:flags=bicubic"
        words = f"{scale},crop={side}:{side},format=pix_fmts=rgb24"
        return np.array(library.to_numpy(library.load_image(path, filter_desc=words)))

    return f"SPDL {version('spdl-io')}, FFmpeg's decoder and scaler", decode


DECODERS = {"pillow": pillow, "torchvision": torchvision, "spdl": spdl, "simplejpeg": simplejpeg}


def paths_in(folder: Path, most: int) -> list[str]:
    paths = sorted(str(path) for path in folder.rglob("*.jpg"))
    return paths[:: max(1, len(paths) // most)][:most]


def serve(name: str, paths: list[str], side: int) -> None:
    """One decoder: its title first, then pixels where a line asks for them, else seconds of all files."""
    title, decode = DECODERS[name]()
    print(title, flush=True)
    for line in sys.stdin:
        if line == "pixels\n":
            sys.stdout.buffer.write(np.stack([decode(path, side) for path in paths]).tobytes())
            sys.stdout.buffer.flush()
            continue
        since = process_time()
        for path in paths:
            decode(path, side)
        print(process_time() - since, flush=True)


class Process:
    """A decoder that waits for its turn."""

    def __init__(self, wanted: str, args: argparse.Namespace) -> None:
        name, _, python = wanted.partition("=")
        words = [str(args.folder), f"--side={args.side}", f"--images={args.images}", "--serve", name]
        self._size = (-1, args.side, args.side, 3)
        self._bytes = len(paths_in(args.folder, args.images)) * args.side**2 * 3
        self._process = subprocess.Popen(
            [python or sys.executable, __file__, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert self._process.stdout is not None
        self.title = self._process.stdout.readline().decode().strip()
        self.seconds: list[float] = []

    def _ask(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def pixels(self) -> np.ndarray:
        self._ask(b"pixels\n")
        assert self._process.stdout is not None
        return np.frombuffer(self._process.stdout.read(self._bytes), np.uint8).reshape(self._size)

    def turn(self) -> None:
        self._ask(b"go\n")
        assert self._process.stdout is not None
        self.seconds.append(float(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=["pillow", "torchvision"])
    parser.add_argument("--side", type=int, default=128)
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve, paths_in(args.folder, args.images), args.side)
        return
    processes = [Process(name, args) for name in args.names]
    pixels = [process.pixels().astype(np.int16) for process in processes]
    print(f"load {os.getloadavg()[0]:.1f}")
    for _ in range(args.rounds):
        for process in random.sample(processes, len(processes)):
            process.turn()
    first = np.array(processes[0].seconds)
    for process, own in zip(processes, pixels, strict=True):
        seconds = np.array(process.seconds)
        low, middle, high = np.percentile(first / seconds, [25, 50, 75])
        apart = np.abs(own - pixels[0])
        print(
            f"{process.title:50} {len(own) / np.median(seconds):6.0f} img/s, {middle:.2f} times the first "
            f"({low:.2f} to {high:.2f}); pixels differ by {apart.mean():.2f}, at most {apart.max()}"
        )
        process.close()
    print(f"load {os.getloadavg()[0]:.1f}; seconds are of processor time")


if __name__ == "__main__":
    main()
