"""Stands in for a person who closes the real window while a task works. test_closed_while_working.py starts it.

Arguments: the workspace, which has one trained run, the kind of task, its title, and a folder for files.
"""

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType, SimpleNamespace

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog

from workbench import app
from workbench.config import RunConfig
from workbench.places import launching
from workbench.places.host.hosts import LocalHost
from workbench.places.place import SshPlace
from workbench.sweeps import starting
from workbench.ui.state.background.tasks import Task
from workbench.ui.window import main_window

PATIENCE = 150.0  # seconds for one step
DEPLOYMENT = 2  # the tab of the Retrieval page
HALFWAY, LATER = "torch.nn.modules", "torch.optim"  # the second is loaded after the first
Step = tuple[Callable[[], bool], Callable[[], object]]


class SlowDisk:
    """Among the finders of modules: holds the load of torch half-way until the window that is closed says so.

    It holds the module, not the search for it, during which no other thread can import anything.
    """

    def __init__(self) -> None:
        self.halfway, self.go_on = threading.Event(), threading.Event()

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == HALFWAY else None
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = partial(self._hold, spec.loader.exec_module)
        return spec

    def _hold(self, load: Callable[[ModuleType], None], module: ModuleType) -> None:
        self.halfway.set()
        if not self.go_on.wait(PATIENCE):
            sys.stderr.write("the window was not closed while torch was loaded\n")
        load(module)


class Person(QObject):
    """Starts one task as soon as the window allows it, and closes the window while it works."""

    def __init__(self, window: main_window.MainWindow, kind: str, title: str, out: Path) -> None:
        super().__init__(window)
        self._window, self._session, self._title, self._out = window, window.session, title, out
        self._since = monotonic()
        self._loads = False  # the engine, half-way: work without a line in the Activity panel
        self._steps: list[Step] = [
            (lambda: bool(self._session.runs()), lambda: self._session.show_run(1)),
            (lambda: self._session.evaluation_id is not None, lambda: None),
            *getattr(self, f"_{kind}")(),
            (self._works, self._close),
        ]
        self._timer = QTimer(self, interval=5)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        self._session.activity.changed.connect(lambda: QTimer.singleShot(0, self, self._look))

    def _look(self) -> None:
        if not self._steps:
            return
        ready, act = self._steps[0]
        if ready():
            self._steps.pop(0)
            self._since = monotonic()
            if not self._steps:
                self._timer.stop()
            act()
        elif monotonic() - self._since > PATIENCE:
            self._timer.stop()
            sys.stderr.write(f"{len(self._steps)} steps were left\n")
            QApplication.exit(4)

    def _loading(self) -> list[Step]:
        tasks: list[Task] = []

        def hold() -> None:
            since = monotonic()
            while not (self._session.closed and all(task.cancelled for task in tasks)):
                if monotonic() - since > PATIENCE:
                    return
                sleep(0.001)
            DISK.go_on.set()

        def watch() -> None:
            tasks[:] = self._session.findChildren(Task)
            threading.Thread(target=hold, name="disk").start()
            self._loads = True

        return [(DISK.halfway.is_set, watch)]

    def _works(self) -> bool:
        items = self._session.activity.items
        return self._loads or any(item.title == self._title and item.state == "working" for item in items)

    def _close(self) -> None:
        sys.stdout.write(f"closed during: {self._title}\n")
        self._window.close()
        if self._title == "Start the sweep":  # an answer that arrives before the event loop ends opens a panel
            QDialog(self._window).show()

    def _page(self, name: str):
        return self._window.pages.page(name)

    # The kinds of task: what is waited for, and what is done then

    def _exported(self) -> list[Step]:
        def ask() -> None:
            self.dialog = self._window.run_actions.exchange.ask_export()
            self.dialog.folder.set_value(str(self._out))

        def start() -> None:
            for box in self.dialog.boxes.values():
                box.setChecked(box.isEnabled())
            self.dialog.start.click()

        return [(lambda: True, ask), (lambda: self.dialog.start.isEnabled(), start)]

    def _imported(self) -> list[Step]:
        def ask() -> None:
            self.dialog = self._window.run_actions.exchange.ask_import()
            for key, name in (("embeddings", "vectors.npy"), ("labels", "labels.npy")):
                self.dialog.places[key].set_value(str(self._out.parent / name))
                self.dialog.places[key].edited.emit()

        return [(lambda: True, ask), (lambda: self.dialog.start.isEnabled(), lambda: self.dialog.start.click())]

    def _reported(self) -> list[Step]:
        def start() -> None:
            self._page("report").folder.setText(str(self._out))
            self._page("report").export_button.click()

        show = lambda: self._session.show_page("report")  # noqa: E731
        return [(lambda: True, show), (lambda: self._page("report").export_button.isEnabled(), start)]

    def _mapped(self) -> list[Step]:
        return [(lambda: True, lambda: self._session.show_page("map"))]

    def _checked(self) -> list[Step]:
        return []  # the Set up page begins by itself

    def _swept(self) -> list[Step]:
        starting.work_apart = lambda workspace, number, place="": True  # a worker outlives its window

        def ask() -> None:
            self._page("setup").runner.drop()
            self._page("setup").ask_sweep()
            self.dialog = self._page("setup").sweep_dialog
            self.dialog.rows[0].field.set_value("training.lr")
            self.dialog.rows[0].values.setText("0.1, 0.2, 0.3")

        setup = lambda: self._page("setup").sweep.isEnabled()  # noqa: E731
        return [(setup, ask), (lambda: self.dialog.start.isEnabled(), lambda: self.dialog.start.click())]

    def _rated(self) -> list[Step]:
        def ask() -> None:
            self._page("setup").runner.drop()
            self._page("setup").ask_rate()
            self._page("setup").rate_dialog.start.click()

        return [(lambda: self._page("setup").groups.parts.find_rate.isEnabled(), ask)]

    def _sent(self) -> list[Step]:
        def launcher_of(place: SshPlace, cancelled: Callable[[], bool]) -> SimpleNamespace:
            return SimpleNamespace(
                read=lambda parts: iter(()),
                submit=lambda orders: LocalHost(cancelled=cancelled).call(["sleep", "170"], seconds=170),
            )

        launching.launcher_of = launcher_of
        config = RunConfig(name="away")
        return [(lambda: True, lambda: self._session.start_at(config, SshPlace(name="box", host="box")))]

    def _measured(self) -> list[Step]:
        def show() -> None:
            self._session.show_page("retrieval")
            self._page("retrieval").views.setCurrentIndex(DEPLOYMENT)

        def panel():
            return self._page("retrieval").views.make(DEPLOYMENT)

        return [(lambda: True, show), (lambda: panel().isVisible(), lambda: panel().measure())]


class Driven(main_window.MainWindow):
    """The window with a person before it."""

    def showEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        if not hasattr(self, "person"):
            self.person = Person(self, *sys.argv[2:4], Path(sys.argv[4]))


DISK = SlowDisk()

if __name__ == "__main__":
    main_window.MainWindow = Driven
    if sys.argv[2] == "loading":
        sys.meta_path.insert(0, DISK)
    status = app.main(["--workspace", sys.argv[1]])
    if sys.argv[2] == "loading" and LATER in sys.modules:
        sys.exit("the closed window went on loading torch")
    sys.exit(status)
