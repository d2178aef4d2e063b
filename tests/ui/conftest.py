"""Shared by the window's tests: settings of their own, and a session on an empty workspace."""

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from time import perf_counter, sleep

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from tests.ui.played_analysis import Analysis
from tests.ui.thread_process import ThreadProcess
from tests.ui.trained import trained_run
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.events import Progress, Scalar
from workbench.jobs import Job
from workbench.problem import Problem
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.pages.map.page import MapPage
from workbench.ui.preferences import Preferences
from workbench.ui.state import process_work
from workbench.ui.state.commands import Commands
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.page_stack import PageStack
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

CHANGE = Session.change
HERE = Path(__file__).parent
LONG_LOOK = 0.05  # s that the garbage collector may look at what stays after each test


@pytest.fixture(scope="session", autouse=True)
def _imports_left_out():
    """What the imports made stays: a look at all objects after each test is then short."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()  # else libraries report at the end what was never freed


@pytest.fixture(scope="session", autouse=True)
def _no_power_cut():
    """What is written is left to the system: to have the disk take each file took a tenth of the tests' time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(autouse=True)
def _widgets_freed_on_this_thread(_imports_left_out, qapp):
    """Python frees cycles on whichever thread allocates next; a widget freed beside Qt's own thread is a crash.

    There is an application for every test: without one, Qt ends the process where a test makes a widget or a picture,
    and whether another test has made one before depends on their order.
    """
    gc.disable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Free the windows of a test of this folder when it is over: until then pytest refers to what its fixtures made.

    Between two tests of this folder nothing is collected either: a thread of the first may still work.
    """
    done = yield
    if HERE in item.path.parents:
        _free_windows()
        if nextitem is None or HERE not in nextitem.path.parents:
            gc.enable()
    return done


def _free_windows() -> None:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    began = perf_counter()
    gc.collect()
    if perf_counter() - began > LONG_LOOK:  # what stays, as modules do, is not looked at again after the next tests
        gc.freeze()


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes what a person's window remembers."""
    monkeypatch.setenv("WORKBENCH_SETTINGS", str(tmp_path / "window.ini"))


@pytest.fixture(autouse=True)
def _light_at_first(_own_settings: None, tmp_path: Path, qapp) -> None:
    """A test that left the window dark, or its text large, does not decide how the next one begins."""
    if theme.look() != (theme.LIGHT, 100):
        shown = theme.Theme(Preferences(tmp_path / "light.ini"))
        shown.choose("light")
        shown.close()


@pytest.fixture(autouse=True)
def _clipboard_empty_at_first(qapp) -> None:
    """A test that waits for what is copied does not take what an earlier one copied for it."""
    if QGuiApplication.clipboard().text():
        QGuiApplication.clipboard().clear()


@pytest.fixture(autouse=True)
def _disk_without_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read or written of a run is there at once, as on a disk without delay; test_slow_disk.py has one."""
    show_run = Session.show_run

    def show_and_look(session: Session, run_id: int | None) -> None:
        show_run(session, run_id)
        session.follower.look()

    def change_at_once(session: Session, work, then=None, failed=None) -> None:
        try:
            result = work()
        except Problem as problem:
            (failed or session.notify)(problem)
        else:
            if then is not None:
                then(result)

    monkeypatch.setattr(Session, "show_run", show_and_look)
    monkeypatch.setattr(Session, "change", change_at_once)


@pytest.fixture
def slow_changes(monkeypatch: pytest.MonkeyPatch, _disk_without_delay: None) -> None:
    """What is written is written on a thread, as in the program."""
    monkeypatch.setattr(Session, "change", CHANGE)


@pytest.fixture(scope="session")
def _empty_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that was made and closed."""
    folder = tmp_path_factory.mktemp("empty") / "workspace"
    Workspace(folder, create=True).close()
    return folder


@pytest.fixture
def workspace(tmp_path: Path, _empty_workspace: Path) -> Workspace:
    """An empty workspace, a copy: to make one takes 40 ms; the session that takes it closes it."""
    return Workspace(shutil.copytree(_empty_workspace, tmp_path / "workspace"))


@pytest.fixture
def session(qapp, workspace):
    """A session on an empty workspace, in its theme; what still works is ended afterwards."""
    made = Session(workspace)
    if not qapp.styleSheet():  # to dress all widgets for each test takes a tenth of the tests' time
        made.theme.apply()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def large(session: Session) -> Iterator[Session]:
    """The session with text at 150%."""
    session.theme.set_text_size(150)
    yield session
    session.theme.set_text_size(100)


@pytest.fixture
def shown_map(qtbot, session, workspace, tmp_path, monkeypatch):
    """`shown_map(method)`: the page of the map with the last evaluation of a trained run, by a method without UMAP."""
    monkeypatch.setattr(session.analysis, "request", lambda *args: pytest.fail("no UMAP is asked for here"))
    run_id = trained_run(workspace, tmp_path / "cache")

    def show(method: str) -> MapPage:
        made = MapPage(session)
        made.model.choose_method(MapMethod(method))
        qtbot.addWidget(made)
        made.resize(900, 640)
        made.show()
        session.show_run(run_id)
        session.show_evaluation(workspace.evaluations(run_id)[-1].id)
        qtbot.waitUntil(lambda: made.canvas.data is not None)
        qtbot.settle(made)
        return made

    return show


def counting_job(workspace, run_id, control, listen, resume):
    """A run that counts steps on a real thread until it is asked to stop, and is recorded like any other."""
    recorder = Recorder(workspace, run_id, control)

    def emit(event):
        recorder(event)
        listen(event)

    def work(control, emit):
        for step in count(1):
            control.gate()
            if control.stop_asked or control.interrupted:
                return
            emit(Scalar("batch/loss", step, 1 / step))
            emit(Progress(step, 100_000, 10.0))
            sleep(0.002)

    return Job(f"run {run_id}", work, emit, control)


@pytest.fixture
def make_counting_job():
    """The maker of such runs, for sessions that a test makes itself."""
    return counting_job


@pytest.fixture
def counting_session(qapp, workspace):
    """A session whose runs count steps instead of training."""
    made = Session(workspace, make_job=counting_job)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def analysis(session):
    """The session's analysis process, played: it keeps requests until the test answers them."""
    session.analysis.close()
    session.analysis = Analysis()
    return session.analysis


@pytest.fixture
def drawing(session):
    """The session's process of reports, played in the same way."""
    session.drawing.close()
    session.drawing = Analysis()
    return session.drawing


@pytest.fixture
def config():
    """The smallest config; needs no catalog."""
    return RunConfig(name="Counting")


@pytest.fixture
def stored_evaluation(workspace):
    """A function that stores a small evaluation of a run; returns its number."""

    def store(run_id: int, epoch: int, score: float = 0.8) -> int:
        metrics = '{"recall@1": 0.9, "MAP@R": 0.8}'
        with workspace.writing() as db:
            artefact = db.execute(
                "insert into artefacts (run_id, kind, path, bytes, blake2b, created) "
                "values (?, 'embeddings', ?, 0, '', '')",
                (run_id, f"embeddings-{epoch}.npy"),
            ).lastrowid
            return db.execute(
                "insert into evaluations (run_id, epoch, step, embeddings_id, distance, score, metrics, created) "
                "values (?, ?, ?, ?, 'cosine', ?, ?, '')",
                (run_id, epoch, epoch, artefact, score, metrics),
            ).lastrowid

    return store


@pytest.fixture
def in_a_thread(monkeypatch):
    """Exports, imports and what else has a process for itself alone are done by threads of this process."""
    monkeypatch.setattr(process_work, "AnalysisProcess", ThreadProcess)


@pytest.fixture
def actions(qtbot, session):
    """What can be done with runs, without a window of the program."""
    parent = qtbot.addWidget(QWidget())
    return RunActions(session, Commands(session.preferences, parent), parent)


@pytest.fixture
def blank_set_up(monkeypatch):
    """Windows have a blank page for Set up, which else takes most of the time of making one."""
    make = PageStack.make
    monkeypatch.setattr(PageStack, "make", lambda self, info: QWidget() if info.name == "setup" else make(self, info))


@pytest.fixture
def window(qtbot, session):
    """The window of the program with the whole catalog."""
    session.set_catalog(catalog.current())
    made = qtbot.addWidget(MainWindow(session))
    made.show()
    return made


@pytest.fixture
def said(session):
    """What the message bar was given."""
    sentences = []
    session.noticed.connect(lambda message: sentences.append(str(message)))
    return sentences
