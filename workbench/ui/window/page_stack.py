"""The pages, each made when it is first needed, so that the window is shown before they are loaded."""

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.ui.state.pages.in_parts import finish, parts_of
from workbench.ui.state.pages.page_info import PAGES, PageInfo
from workbench.ui.state.session import Session
from workbench.ui.style import tab_order

NARROWEST = (
    584  # px: what the smallest window with the largest text has between the list of runs and a folded Inspector
)
LOOK_EVERY = 8  # ms between laying a page out and painting it, in which the window answers
NOT_OF_QT = re.compile(r"^(?:from|import) ((?:workbench\.(?!ui\b)|PIL\b)[\w.]*)", re.MULTILINE)
OVER = object()  # no part is left
LONGEST = 0.16  # seconds for which a page that reads is not painted; it is painted once instead of part by part


class PageStack(QStackedWidget):
    """Shows one page. A page's own QActions become commands of the window.

    Its size hints are the sizes that the pages needed when they were last shown. Otherwise Qt would lay out the text of
    every page twice whenever one is shown or changes, which takes most of the time of showing a page.
    """

    made = Signal(str, object)  # name, page
    shown = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._infos = {info.name: info for info in PAGES}
        self._pages: dict[str, QWidget] = {}
        self._begun: dict[str, QWidget] = {}  # pages of which parts are still to be made
        self._unpainted: list[QWidget] = []
        self._least: dict[QWidget, int] = {}  # px, the least height of a page
        self._until = 0.0
        self._read = False  # whether nothing was left to read at the last look
        self._look = QTimer(self, interval=LOOK_EVERY)
        self._look.timeout.connect(self._draw_if_read)

    def page(self, name: str) -> QWidget:
        """The page of that name, made now if it does not exist yet."""
        if name not in self._pages:
            info = self._infos[name]
            page = self._begun.pop(name, None) or self.make(info)
            finish(parts_of(page))
            page.setMinimumWidth(NARROWEST)  # otherwise a long caption would resize the docks and the window
            page.setProperty(tab_order.START, True)
            page.setAccessibleName(page.accessibleName() or info.title)
            self._pages[name] = page
            self.addWidget(page)
            self.made.emit(name, page)
        return self._pages[name]

    def make(self, info: PageInfo) -> QWidget:
        """A new page, from the module that `info` names; parts of it may be left to be made."""
        kind = getattr(import_module(info.module), info.kind)
        # As a child from the start: to become one later would style all of its widgets again.
        page: QWidget = kind(self._session, self, **({"in_parts": True} if info.in_parts else {}))
        return page

    def show_page(self, name: str) -> None:
        """Bring a page to the front.

        Drawn once the layouts are settled: a plot that hides has Qt draw the whole window before, and then again. A
        page that reads what it shows is drawn when it has that, or after LONGEST. The focus goes from the page before
        to this one: Qt would give it to the next button, which may be one that ends a run.
        """
        page = self.page(name)
        self._session.theme.dress_now(page)
        focused = self.window().focusWidget()
        inside = focused is None or focused is self or self.isAncestorOf(focused)
        self.setUpdatesEnabled(False)
        if page is not self.currentWidget():
            self.setCurrentWidget(page)
            if inside:
                page.setFocus()
        self._until = monotonic() + LONGEST
        self._read = False
        self._look.start()
        self.shown.emit(name)

    def _draw_if_read(self) -> None:
        """Draw at the second look without anything to read: between the two, what was read is laid out."""
        read, self._read = self._read, not self._session.reading
        if (read and self._read) or monotonic() > self._until:
            self._look.stop()
            self._draw()

    def _draw(self) -> None:
        self.setUpdatesEnabled(True)
        if (page := self.currentWidget()) is not None:
            self._measure(page)

    def hasHeightForWidth(self) -> bool:
        return False

    def minimumSizeHint(self) -> QSize:
        return QSize(NARROWEST, max(self._least.values(), default=0))

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def _measure(self, page: QWidget) -> None:
        least = page.minimumSizeHint().height()
        if self._least.get(page) != least:
            self._least[page] = least
            self.updateGeometry()

    def make_next(self) -> bool:
        """Make a page that does not exist yet, or a part of it, or lay out the last one; False when all are done."""
        if self._unpainted:
            self._lay_out(self._unpainted.pop())
            return True
        name = next((name for name in self._infos if name not in self._pages), None)
        if name is None:
            return False
        if name not in self._begun:
            self._begun[name] = self.make(self._infos[name])
            return True
        page = self._begun.pop(name)  # if a part fails it is not shown half made, but made anew
        over = next(parts_of(page), OVER) is OVER
        self._begun[name] = page
        if over:
            self._unpainted.append(self.page(name))
        return True

    def _lay_out(self, page: QWidget) -> None:
        page.resize(self.size())
        for part in (page, *page.findChildren(QWidget)):  # styled now, not when it is first shown
            part.ensurePolished()
        page.grab()
        self._measure(page)


def load_parts() -> None:
    """Import, on any thread, what the pages use that is not of Qt: a third of the time that importing a page takes.

    Classes of Qt are made by the window's thread alone: made beside its event loop they once ended the process.
    """
    files = (file.read_text("utf-8") for file in Path(__file__).parents[1].rglob("*.py"))
    for name in sorted({name for text in files for name in NOT_OF_QT.findall(text)}):
        import_module(name)


def loads() -> list[Callable[[], object]]:
    """What imports the pages' modules, on the window's thread: one step for each turn of the event loop."""
    return [partial(import_module, name) for name in ("pyqtgraph", *(info.module for info in PAGES))]
