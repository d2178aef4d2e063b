"""What happens right after the first paint: the other pages are made, and the engine is loaded in a thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from workbench.entries.catalog import Catalog
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.process.garbage import Garbage

SETTLED = 2000  # ms after the engine is there: forms and pages are made by then
Loaded = tuple[Catalog, str]  # the catalog, and the name of the device that trains by default


class WarmUp(QObject):
    """Begins once the window is painted.

    Args:
        load: loads the engine on a thread; seconds.
        garbage: settled when everything is loaded.
    """

    def __init__(
        self, session: Session, window: MainWindow, load: Callable[[Progress], Loaded], garbage: Garbage
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._load, self._garbage = session, window, load, garbage
        self._over = False  # the engine is there, or cannot be loaded
        window.painted.connect(self.begin)

    def begin(self) -> None:
        """Load the engine on a thread, and make the other pages meanwhile."""
        self._load_engine()
        self._session.workspace_changed.connect(self._load_if_dropped)
        self._window.make_ready()

    def _load_engine(self) -> None:
        def work(progress: Progress) -> Loaded:
            with self._session.loading(progress):
                return self._load(progress)

        self._session.run_in_thread("Loading the engine", work, self._loaded, self._failed, quiet=True)

    def _load_if_dropped(self) -> None:
        """With another workspace all tasks are cancelled: what the one before had loaded is found in memory."""
        if not self._over:
            self._load_engine()

    def _loaded(self, loaded: Loaded) -> None:
        self._over = True
        catalog, device = loaded
        self._session.set_catalog(catalog)
        self._window.status.show_device(device)
        self._session.keep_spare()
        QTimer.singleShot(SETTLED, self._garbage.settle)

    def _failed(self, problem: Problem) -> None:
        self._over = True
        self._session.notify(problem, EVERYWHERE)
        self._window.status.show_no_device()
        self._garbage.settle()
