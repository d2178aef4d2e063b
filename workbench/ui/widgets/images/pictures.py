"""Pictures by sample id, loaded on a thread and kept in one bounded cache that all pages share."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPixmap
from PySide6.QtWidgets import QLabel

from workbench.datasets.pictures import Pictures
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.workspace import Workspace

KEPT_BYTES = 128 << 20
BATCH = 48  # pictures per task: few enough that a newer request waits only briefly
FULL_FROM = 200  # px from which the original file is read
PROGRAMS = (".app", ".bundle")  # endings of folders
GONE = "This image is no longer in the data set."
Result = TypeVar("Result")
Wish = tuple[int, int]  # sample id, px of the longer side


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """The result of one task."""

    pictures: Pictures
    images: list[tuple[Wish, QImage]]
    absent: dict[int, str]  # sample id -> a sentence that says what is missing


class PictureLoader(QObject):
    """Each part of the window requests what it shows; its newest request replaces its older one and is served first.

    If a picture cannot be loaded, `absent` gives the reason; the message bar gives it once per data set.

    Args:
        dataset: returns the id of the data set to load from, or None; by default that of the shown run.
    """

    ready = Signal(object)  # set of sample ids that have been loaded or found absent
    dropped = Signal()  # all pictures were dropped because images were located; each part's request is repeated

    def __init__(
        self, session: Session, dataset: Callable[[], int | None] | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent or session)
        self._session, self._dataset_now = session, dataset or self._of_shown_run
        self._cache: OrderedDict[Wish, QPixmap] = OrderedDict()
        self._bytes = 0
        self._absent: dict[int, str] = {}
        self._wishes: dict[str, list[Wish]] = {}  # asker -> pictures still to load; the newest asker is last
        self._asked: dict[str, list[Wish]] = {}  # the newest request of each asker, even if it was served
        self._dataset: int | None = None
        self._pictures: Pictures | None = None
        self._age = 0  # increases with every `forget`: results of older requests are ignored
        self._task: Task | None = None
        session.workspace_changed.connect(self.forget)
        session.images_located.connect(self._look_again)

    def pixmap(self, sample_id: int, size: int) -> QPixmap | None:
        """The picture with its longer side at `size` px; None if it is not loaded yet or absent."""
        picture = self._cache.get((sample_id, size))
        if picture is not None:
            self._cache.move_to_end((sample_id, size))
        return picture

    def absent(self, sample_id: int) -> str:
        """Why a picture cannot be shown; empty if it can be, or if that is not known yet."""
        return self._absent.get(sample_id, "")

    def path(self, sample_id: int) -> Path | None:
        """The path of an image's own file, which may be missing; None: it has none, or no picture was loaded yet."""
        return None if self._pictures is None else self._pictures.path(sample_id)

    @property
    def in_boxes(self) -> bool:
        """Whether the images are boxes in files; false until the first pictures are loaded."""
        return self._pictures is not None and self._pictures.in_boxes

    def read_in_file(self, sample_id: int, size: int, then: Callable[[QImage], None]) -> None:
        """Read the file that an image was cut from, with its box, on a thread; the message bar says why that fails."""
        self._look_up("Read a file", lambda pictures: as_image(pictures.in_file(sample_id), size), then)

    def read_whole(self, sample_id: int, then: Callable[[QImage], None]) -> None:
        """Read an image in its full size on a thread; the message bar says why that fails."""
        self._look_up("Read an image", lambda pictures: unscaled(pictures.full(sample_id)), then)

    def find_folder(self, sample_id: int, then: Callable[[Path], None]) -> None:
        """Look on a thread for the folder that holds the file of an image; the message bar says if it is missing."""
        self._look_up("Find an image", partial(_folder_of, sample_id), then)

    def find_image(self, sample_id: int, then: Callable[[Path], None]) -> None:
        """Look on a thread for the file of an image; the message bar says if it is missing, or is no image."""
        self._look_up("Find an image", partial(_image_of, sample_id), then)

    def _look_up(self, title: str, look: Callable[[Pictures], Result], then: Callable[[Result], None]) -> None:
        workspace, dataset = self._session.workspace, self._dataset
        if dataset is None:
            return

        def work(progress: Progress) -> Result:
            try:
                return look(workspace.pictures(dataset))
            except KeyError:
                raise Problem(GONE) from None

        self._session.run_in_thread(title, work, then, quiet=True)

    def request(self, asker: str, sample_ids: list[int], size: int) -> None:
        """Load these pictures next, in this order, for `asker`; `size` is the longer side in px."""
        if self._session.closed:
            return
        self._see_dataset()
        self._wishes.pop(asker, None)
        self._asked[asker] = self._wishes[asker] = [(sample_id, size) for sample_id in sample_ids]
        self._next()

    def forget(self) -> None:
        """Drop every picture and every reason for an absent one, so that the next request looks for them again."""
        self._cache.clear()
        self._bytes = 0
        self._absent.clear()
        self._wishes.clear()
        self._asked.clear()
        self._dataset = self._pictures = None
        self._age += 1

    @property
    def lacking(self) -> int | None:
        """The id of the current data set if one of its images is known to be missing, else None."""
        return self._dataset if self._absent and self._dataset == self._dataset_now() else None

    def _look_again(self, dataset: int) -> None:
        """Repeat every part's request, because images of a data set were located."""
        if dataset == self._dataset:
            asked = self._asked.copy()
            self.forget()
            self.dropped.emit()
            self._see_dataset()
            self._asked, self._wishes = asked, asked.copy()
            self._next()

    def _see_dataset(self) -> None:
        dataset = self._dataset_now()
        if dataset != self._dataset:
            self.forget()
            self._dataset = dataset

    def _of_shown_run(self) -> int | None:
        run = self._session.run()
        return None if run is None else run.dataset_id

    def _next(self) -> None:
        if self._task is not None or self._dataset is None:
            return
        batch = self._take_wishes()
        if not batch:
            return
        workspace, dataset, pictures, age = self._session.workspace, self._dataset, self._pictures, self._age

        def work(progress: Progress) -> tuple[int, Loaded]:
            return age, load(workspace, dataset, pictures, batch, progress)

        self._task = self._session.run_in_thread("Load pictures", work, self._take, self._fail, quiet=True)
        self._task.ended.connect(self._task_ended)  # comes before `_take`, and also when the task was cancelled

    def _take_wishes(self) -> list[Wish]:
        batch: list[Wish] = []
        for asker in reversed(list(self._wishes)):
            waiting = [wish for wish in self._wishes[asker] if wish not in self._cache and wish[0] not in self._absent]
            room = BATCH - len(batch)
            batch += waiting[:room]
            self._wishes[asker] = waiting[room:]
            if not self._wishes[asker]:
                del self._wishes[asker]
        return list(dict.fromkeys(batch))

    def _task_ended(self) -> None:
        self._task = None

    def _take(self, answer: tuple[int, Loaded]) -> None:
        age, loaded = answer
        if age == self._age:
            self._pictures = loaded.pictures
            first_absent = bool(loaded.absent) and not self._absent
            self._absent.update(loaded.absent)
            for wish, image in loaded.images:
                self._keep(wish, QPixmap.fromImage(image))
            if first_absent:
                self._session.notify(next(iter(loaded.absent.values())))
            self.ready.emit({wish[0] for wish, _ in loaded.images} | loaded.absent.keys())
        self._next()

    def _keep(self, wish: Wish, pixmap: QPixmap) -> None:
        self._cache[wish] = pixmap
        self._bytes += size_of(pixmap)
        while self._bytes > KEPT_BYTES and len(self._cache) > 1:
            _, oldest = self._cache.popitem(last=False)
            self._bytes -= size_of(oldest)

    def _fail(self, problem: Problem) -> None:
        self._wishes.clear()
        self._session.notify(problem)


def shared_loader(session: Session) -> PictureLoader:
    """The loader that the session's pages share; created at the first call."""
    loader = session.findChild(PictureLoader, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return loader if isinstance(loader, PictureLoader) else PictureLoader(session)


def fill_picture(widget: QLabel, loader: PictureLoader, sample: int, size: int) -> None:
    """Show the picture, the reason why there is none, or an ellipsis while it is loading."""
    picture = loader.pixmap(sample, size)
    if picture is not None:
        widget.setPixmap(picture)
    else:
        widget.setText(loader.absent(sample) or "…")


def load(
    workspace: Workspace, dataset: int, pictures: Pictures | None, wishes: list[Wish], progress: Progress
) -> Loaded:
    """Decode and scale pictures, on a thread. `pictures` is the data set's reader if one was made before."""
    pictures = pictures or workspace.pictures(dataset)
    images: list[tuple[Wish, QImage]] = []
    absent: dict[int, str] = {}
    for done, (sample_id, size) in enumerate(wishes):
        progress("Loading pictures", done, len(wishes))
        try:
            source = pictures.full(sample_id) if size > FULL_FROM else pictures.thumbnail(sample_id)
        except Problem as problem:
            absent[sample_id] = str(problem)
        except KeyError:
            absent[sample_id] = GONE
        else:
            images.append(((sample_id, size), as_image(source, size)))
    return Loaded(pictures, images, absent)


def _file_of(sample_id: int, pictures: Pictures) -> Path:
    path = pictures.path(sample_id)
    if path is None:
        raise Problem("The image has no file of its own.")
    if not path.is_file():
        raise Problem(
            f"The file {path} is missing.", kept="The run is kept.", todo="Put it back, or locate the images."
        )
    return path


def _folder_of(sample_id: int, pictures: Pictures) -> Path:
    """The folder; a workspace of others may name one that a Mac starts as a program."""
    folder = _file_of(sample_id, pictures).parent
    if folder.suffix.lower() in PROGRAMS:
        raise Problem(f"The folder {folder} is a program.", kept="It was not opened.")
    return folder


def _image_of(sample_id: int, pictures: Pictures) -> Path:
    """The file; a workspace of others may name one that the desktop would start as a program."""
    from workbench.datasets.images.loader import ENDINGS, BadImage, load  # late: the window is shown first

    path = _file_of(sample_id, pictures)
    if path.suffix.lower() not in ENDINGS:
        raise Problem(f"The name of {path} does not have the extension of an image.", kept="The file was not opened.")
    try:
        load(path)
    except BadImage as reason:
        raise Problem(f"The file {path} {reason}.", kept="It was not opened.") from None
    return path


def unscaled(picture: np.ndarray) -> QImage:
    """uint8 [h, w, 3] as an image of as many pixels."""
    height, width = picture.shape[:2]
    return QImage(picture.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def as_image(picture: np.ndarray, size: int) -> QImage:
    """uint8 [h, w, 3] as an image with its longer side at `size` px on screen; pixels of small pictures stay sharp."""
    height, width = picture.shape[:2]
    whole = QImage(picture.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888)
    ratio = QGuiApplication.instance().devicePixelRatio()  # type: ignore[union-attr]
    side = round(size * ratio)
    smooth = max(height, width) > side // 3
    mode = Qt.TransformationMode.SmoothTransformation if smooth else Qt.TransformationMode.FastTransformation
    scaled = whole.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio, mode).copy()
    scaled.setDevicePixelRatio(ratio)
    return scaled


def size_of(pixmap: QPixmap) -> int:
    """The memory of a pixmap in bytes."""
    return pixmap.width() * pixmap.height() * 4
