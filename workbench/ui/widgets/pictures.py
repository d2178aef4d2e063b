"""Thumbnails loaded off the window's thread and kept in a bounded cache."""

from collections import OrderedDict

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QImage, QPixmap

from workbench.datasets.pictures import Pictures
from workbench.problem import Problem
from workbench.ui.session import Session
from workbench.ui.tasks import Progress

KEPT = 3000  # pictures; about 100 MB at 96 px
BATCH = 64  # pictures a task
Loaded = list[tuple[int, QImage | None, str]]  # sample id, picture or None, what is missing


class PictureLoader(QObject):
    """Asks for pictures by sample id; the newest wish is served first, and older ones that wait are forgotten."""

    ready = Signal(object)  # list of sample ids that can now be had by `pixmap`
    missing = Signal(str)  # one sentence, at most once per data set

    def __init__(self, session: Session) -> None:
        super().__init__(session)  # not the page's child: a batch may come back after the page is gone
        self._session = session
        self._cache: OrderedDict[tuple[int, int], QPixmap] = OrderedDict()
        self._absent: dict[int, str] = {}
        self._wanted: list[tuple[int, int]] = []
        self._working = False
        self._dataset: int | None = None

    def pixmap(self, sample_id: int, size: int) -> QPixmap | None:
        """The picture with its longer side at `size` px, or None while it is not loaded (or is missing)."""
        found = self._cache.get((sample_id, size))
        if found is not None:
            self._cache.move_to_end((sample_id, size))
        return found

    def absent(self, sample_id: int) -> str:
        """Why a picture cannot be shown; empty when it can or is not known yet."""
        return self._absent.get(sample_id, "")

    def request(self, sample_ids: list[int], size: int) -> None:
        """Load these next, in this order."""
        self._forget_other_data()
        self._wanted = [
            (each, size) for each in sample_ids if (each, size) not in self._cache and each not in self._absent
        ]
        self._next()

    def _forget_other_data(self) -> None:
        run = self._session.run()
        dataset = None if run is None else run.dataset_id
        if dataset != self._dataset:
            self._dataset = dataset
            self._cache.clear()
            self._absent.clear()

    def _next(self) -> None:
        if self._working or not self._wanted:
            return
        pictures = self._session.pictures()
        if pictures is None:
            return
        now, self._wanted = self._wanted[:BATCH], self._wanted[BATCH:]
        self._working = True
        self._session.run_in_thread(
            "Load pictures", lambda progress: _load(pictures, now, progress), self._take, self._fail, quiet=True
        )

    def _take(self, loaded: Loaded) -> None:
        self._working = False
        first_absent = not self._absent
        for sample_id, image, why in loaded:
            if image is None:
                self._absent[sample_id] = why
            else:
                self._cache[sample_id, max(image.width(), image.height())] = QPixmap.fromImage(image)
        while len(self._cache) > KEPT:
            self._cache.popitem(last=False)
        if first_absent and self._absent:
            self.missing.emit(next(iter(self._absent.values())))
        self.ready.emit([sample_id for sample_id, _, _ in loaded])
        self._next()

    def _fail(self, problem: Problem) -> None:
        self._working = False
        self.missing.emit(str(problem))


def _load(pictures: Pictures, wanted: list[tuple[int, int]], progress: Progress) -> Loaded:
    found: Loaded = []
    for done, (sample_id, size) in enumerate(wanted):
        progress("Loading pictures", done, len(wanted))
        try:
            source = pictures.full(sample_id) if size > FULL_FROM else pictures.thumbnail(sample_id)
            found.append((sample_id, as_image(source, size), ""))
        except Problem as problem:
            found.append((sample_id, None, str(problem)))
        except KeyError:
            found.append((sample_id, None, "This sample is not in the data set any more."))
    return found


FULL_FROM = 200  # px from which the original file is worth reading


def as_image(picture: np.ndarray, size: int) -> QImage:
    """uint8 [h, w, 3] as a QImage of its own whose longer side is `size`; small pictures keep their pixels visible."""
    height, width = picture.shape[:2]
    whole = QImage(picture.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888)
    smooth = max(height, width) > size // 3
    mode = Qt.TransformationMode.SmoothTransformation if smooth else Qt.TransformationMode.FastTransformation
    return whole.scaled(size, size, Qt.AspectRatioMode.KeepAspectRatio, mode).copy()
