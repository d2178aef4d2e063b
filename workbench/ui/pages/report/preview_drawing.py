"""Draws the preview of a report in another process, one request after the other."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTemporaryDir, QTimer, Signal
from PySide6.QtGui import QImage

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.report.model import preview_text
from workbench.ui.pages.report.preview import Preview
from workbench.ui.state.process_work import ProcessWork
from workbench.ui.state.session import Session

SETTLE = 600  # ms without a change before the preview is drawn again
DPI = 138  # of the pages as they are drawn: sharp up to a zoom of 150%


class PreviewDrawing(QObject):
    """Keeps the preview up to date while it is visible.

    Args:
        request: gives what is to be drawn, as the process takes it; None if no run is shown.
    """

    drawn = Signal(dict)  # page of each section by its key

    def __init__(
        self, session: Session, preview: Preview, request: Callable[[], dict[str, Any] | None],
        parent: QObject | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._session, self._preview, self._request = session, preview, request
        self._work: ProcessWork | None = None
        self._loading = Newest(session)  # the pages that were drawn
        self._stale = True
        self._drawn: Callable[[], None] | None = None  # shows pages that came while the preview was hidden
        self._timer = QTimer(self, interval=SETTLE, singleShot=True)
        self._timer.timeout.connect(self._draw)

    def wish(self) -> None:
        """Redraw once no more changes come, or when the preview is shown."""
        self._stale = True
        if self._preview.isVisible():
            self._timer.start(SETTLE)

    def catch_up(self) -> None:
        """Draw at once what has changed while the preview was hidden, or show what was drawn meanwhile."""
        drawn, self._drawn = self._drawn, None
        if self._stale:
            self._timer.start(0)
        elif drawn is not None:
            drawn()

    @property
    def _busy(self) -> bool:
        return (self._work is not None and not self._work.over) or self._loading.busy

    def _draw(self) -> None:
        request = self._request()
        if request is None or not self._preview.isVisible() or self._busy:
            return  # the current drawing starts a newer request when it ends
        self._stale, self._drawn = False, None
        self._preview.say("Drawing the pages…")
        folder = QTemporaryDir()
        fields = {**request, "out": folder.path(), "dpi": DPI}
        self._work = ProcessWork(
            self._session, self._session.drawing, "Report preview", "preview", fields,
            partial(self._take, folder), self._not_drawn, self._ended,
        )  # fmt: skip

    def _take(self, folder: QTemporaryDir, answer: dict[str, Any]) -> None:
        def work(progress: Progress) -> list[QImage]:
            # The format of pixmaps, so that the window's thread does not convert them.
            return [QImage(path).convertToFormat(QImage.Format.Format_RGB32) for path in answer["pages"]]

        def then(images: list[QImage]) -> None:
            folder.remove()
            if self._stale:
                self._ended()
            elif self._preview.isVisible():
                self._show(images, answer)
            else:
                self._drawn = partial(self._show, images, answer)

        self._loading.ask("Report preview", work, then, self._not_drawn, quiet=True)

    def _show(self, images: list[QImage], answer: dict[str, Any]) -> None:
        self._preview.say(preview_text(len(images), answer["total"]))
        self._preview.show_pages(images)
        self.drawn.emit(answer["sections"])

    def _not_drawn(self, problem: Problem) -> None:
        self._preview.show_pages([])
        self._preview.say(str(problem))
        if self._stale:
            self._ended()

    def _ended(self) -> None:
        """After a failed or cancelled drawing: start the request that waits, if any."""
        self._preview.say("")
        if self._stale and self._preview.isVisible():
            self._timer.start(0)
