"""Garbage collection runs on the window's thread only, between two events.

Python collects on whichever thread allocates next. Freeing a widget on a worker's thread crashes Qt, and a full
collection over the engine's 450,000 objects, which stops every thread, took up to 0.7 s on a busy machine.
"""

import atexit
import gc
import sys
from threading import get_ident
from time import perf_counter

from PySide6.QtCore import QObject, QTimer

EVERY = 50  # ms between two looks
SHARE = 0.01  # of the time that full collections may take
LIBRARY = 50  # modules: where so many more are loaded, a thread has loaded a library
COLLECT = gc.collect  # Python's own


class Garbage(QObject):
    """Turns automatic collection off: cycles are freed by `look`, which a timer calls after `settle`.

    Args:
        parent: lives on the window's thread; so does the timer.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        gc.collect = self._collect_here
        self._thread = get_ident()
        self._all_from = 0.0
        self._modules = len(sys.modules)  # when objects were last frozen
        self._timer = QTimer(self, interval=EVERY)
        self._timer.timeout.connect(self.look)

    def settle(self) -> None:
        """Freeze the objects of the loaded program, so that later collections skip them, and start the timer."""
        self._freeze()
        atexit.register(gc.unfreeze)  # otherwise libraries report unfreed objects at exit
        self._timer.start()

    def look(self) -> None:
        """Collect the generation that Python would have collected now.

        A library of 50,000 functions that was loaded meanwhile is frozen first, with all else that is there: each full
        collection would look through it, and took 106 to 182 ms.
        """
        due = [count > limit for count, limit in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        began = perf_counter()
        if due[2] and len(sys.modules) >= self._modules + LIBRARY:
            gc.collect(1)
            self._freeze()
        elif due[2] and began >= self._all_from:
            gc.collect(2)
            ended = perf_counter()
            self._all_from = ended + (ended - began) / SHARE
        elif due[1]:
            gc.collect(1)
        elif due[0]:
            gc.collect(0)

    def _collect_here(self, generation: int = 2) -> int:
        """As gc.collect on the window's thread; nothing on others, where libraries such as torch.compile call it."""
        return COLLECT(generation) if get_ident() == self._thread else 0

    def _freeze(self) -> None:
        """Have later collections skip what is there; a cycle of it that is dropped later is not freed any more."""
        self._modules = len(sys.modules)
        gc.freeze()

    def end(self) -> None:
        """Turn automatic collection on again when the window is closed."""
        self._timer.stop()
        if gc.collect == self._collect_here:
            gc.collect = COLLECT
        gc.enable()
