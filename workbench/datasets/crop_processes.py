"""Crops of encoded images, made by processes: Pillow holds the interpreter lock for a sixth of a crop's time.

With the lock of one interpreter six threads are the most that work at once, and training needs it, too.
`python -m workbench.datasets.crop_processes FILE` is one of the processes.
"""

import sys
import threading
import weakref
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np

from workbench.datasets.encoded_images import Box, EncodedImages
from workbench.jobs.byte_process import ByteProcess, Request, serve_bytes

MODULE = "workbench.datasets.crop_processes"


class CropProcesses:
    """Processes that read one file of encoded images; all are started when the first image is needed.

    Args:
        path: the file.
        count: of processes.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._path, self.count = path, count
        self._room = threading.Semaphore(count)
        self._lock = threading.Lock()
        self._alive: list[ByteProcess] = []
        self._free: SimpleQueue[ByteProcess] = SimpleQueue()
        weakref.finalize(self, _end, self._alive)

    def fill(self, target: np.ndarray, rows: np.ndarray, boxes: list[Box] | None) -> None:
        """Put images into `target`, uint8 [n, C, side, side], contiguous; several threads may do so at once.

        Args:
            rows: [n] of the file.
            boxes: what is cut out of each; None for the centre squares.

        Raises:
            ValueError: an image is damaged.
            Problem: a process cannot be started, or has ended.
        """
        request: Request = {"rows": rows.tolist(), "boxes": boxes, "side": target.shape[-1]}
        with self._room:
            process = self._take()
            whole = False
            try:
                process.ask(request, target.data.cast("B"))
                whole = True
            except ValueError:
                whole = True
                raise
            finally:
                self._give_back(process, whole=whole)

    def close(self) -> None:
        """End all of them; a later `fill` starts them again."""
        with self._lock:
            while True:
                try:
                    self._free.get_nowait()
                except Empty:
                    break
            _end(self._alive)

    def _take(self) -> ByteProcess:
        """A process without work; there is one, or room for one."""
        with self._lock:
            if not self._alive:
                while len(self._alive) < self.count:
                    self._alive.append(ByteProcess(MODULE, [str(self._path)]))
                    self._free.put(self._alive[-1])
            try:
                return self._free.get_nowait()
            except Empty:  # one of them has failed
                self._alive.append(ByteProcess(MODULE, [str(self._path)]))
                return self._alive[-1]

    def _give_back(self, process: ByteProcess, *, whole: bool) -> None:
        """Keep a process for the next part, unless it has failed or was ended meanwhile."""
        with self._lock:
            if process not in self._alive:
                return
            if whole:
                self._free.put(process)
            else:
                self._alive.remove(process)
                process.close()


def _end(processes: list[ByteProcess]) -> None:
    while processes:
        processes.pop().close()


def crops(images: EncodedImages, request: Request) -> memoryview:
    """The bytes of the images [n, C, side, side] that a process was asked for. Raises ValueError as `fill`."""
    rows, side = request["rows"], int(request["side"])
    target = np.empty((len(rows), images.shape[-1], side, side), np.uint8)
    for position, row in enumerate(rows):
        image = images[row] if request["boxes"] is None else images.crop(row, tuple(request["boxes"][position]), side)
        target[position] = image.transpose(2, 0, 1)
    return target.data.cast("B")


def main() -> None:
    """Serve crops of the file that the command line names."""
    images = EncodedImages(Path(sys.argv[1]))
    serve_bytes(lambda request: crops(images, request))


if __name__ == "__main__":
    main()
