"""Pictures of files that are no samples of a data set, loaded on a thread; the newest request is served first."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QPixmap

from workbench.progress import Progress
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.widgets.images.pictures import as_image

KEPT = 600  # pictures
BATCH = 24  # pictures per task: few enough that a newer request waits only briefly
Wish = tuple[str, int]  # path in the folder, px of the longer side
Loaded = list[tuple[Wish, QImage | str]]  # a picture, or why there is none


class FilePictures(QObject):
    """The pictures of one folder at a time."""

    ready = Signal()  # more are there

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._folder = Path()
        self._kept: OrderedDict[Wish, QPixmap | str] = OrderedDict()
        self._wishes: dict[int, list[Wish]] = {}  # by size
        self._loading: set[Wish] = set()
        self._task: Task | None = None

    def open(self, folder: str) -> None:
        """Another folder; pictures of the one before are dropped."""
        if Path(folder) != self._folder:
            self._folder = Path(folder)
            self._kept.clear()
            self._wishes.clear()
            self._loading = set()  # what is being loaded is of the folder before

    def picture(self, path: str, size: int) -> QPixmap | str | None:
        """The picture with its longer side at `size` px; why there is none; None while it is not loaded."""
        return self._kept.get((path, size))

    def request(self, paths: Sequence[str], size: int) -> None:
        """Load these next, in this order, instead of earlier ones of this size."""
        self._wishes.pop(size, None)
        there = self._kept.keys() | self._loading
        self._wishes[size] = [(path, size) for path in paths if (path, size) not in there]
        self._next()

    def _next(self) -> None:
        if self._task is not None or self._session.closed:
            return
        batch: list[Wish] = []
        for size in reversed(list(self._wishes)):
            room = BATCH - len(batch)
            batch += self._wishes[size][:room]
            self._wishes[size] = self._wishes[size][room:]
        if not batch:
            return
        folder, self._loading = self._folder, set(batch)

        def work(progress: Progress) -> tuple[Path, Loaded]:
            return folder, _loaded(folder, batch, progress)

        self._task = self._session.run_in_thread("Load pictures", work, self._take, quiet=True)
        self._task.ended.connect(self._ended)  # before `_take`

    def _ended(self) -> None:
        self._task, self._loading = None, set()

    def _take(self, answer: tuple[Path, Loaded]) -> None:
        folder, pictures = answer
        if folder == self._folder:
            for wish, image in pictures:
                self._kept[wish] = image if isinstance(image, str) else QPixmap.fromImage(image)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            self.ready.emit()
        self._next()


def _loaded(folder: Path, wishes: Sequence[Wish], progress: Progress) -> Loaded:
    """Decode and scale pictures, on a thread."""
    from workbench.datasets.images.loader import BadImage, load, on_disk  # late: the window is shown first

    loaded: Loaded = []
    for done, (path, size) in enumerate(wishes):
        progress("Loading pictures", done, len(wishes))
        try:
            loaded.append(((path, size), as_image(load(Path(on_disk(folder, path)), size=size), size)))
        except BadImage as reason:
            loaded.append(((path, size), f"{path} {reason}"))
    return loaded
