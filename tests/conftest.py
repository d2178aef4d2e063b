"""Shared by all tests: no display needed, real data found or skipped, and no thread outlives its test."""

import atexit
import gc
import os
import sys
import threading
from collections.abc import Generator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if "OMP_NUM_THREADS" in os.environ:  # numba gives torch as many threads as it has, for all tests that follow
    os.environ.setdefault("NUMBA_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
import pytest
from hypothesis import settings

from tests.threads import outliving
from tests.waits import PatientBot
from workbench.app import import_plainly
from workbench.jobs import collect_rarely
from workbench.progress import quiet
from workbench.workspace.database import connection
from workbench.workspace.schema import migrations

# Else each of the suite's many processes compiles the package again, and each worker every test.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import_plainly()  # as the window does: tests are collected in 0.88 of the time, in 190 MB less
collect_rarely()  # as the program does: a test neither waits longer, nor by chance after one of the command line

# Else libraries report at the end what was never freed. pytest's own last look through all objects is quick before it.
atexit.register(gc.unfreeze)

HERE = Path(__file__).resolve().parent

settings.register_profile("suite", deadline=None)  # a busy machine is no failure
settings.load_profile("suite")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Modules and tests stay to the end: to look for garbage among them took a quarter of the time of collecting."""
    session.config.args[:] = _own_order(session.config)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _own_order(config: pytest.Config) -> list[str]:
    """The files of the whole suite, for each worker from another one on: what one has compiled is there for all."""
    workers = getattr(config, "workerinput", {})
    if not workers or [(config.invocation_params.dir / arg).resolve() for arg in config.args] != [HERE]:
        return config.args
    files = sorted(str(file) for file in HERE.rglob("test_*.py"))
    first = len(files) * int(workers["workerid"].removeprefix("gw")) // workers["workercount"]
    return files[first:] + files[:first]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All workers have the tests in one order, as xdist asks."""
    items.sort(key=lambda item: item.path)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real MNIST, Omniglot, Caltech-101 and weights; the test is skipped where there is none."""
    named = os.environ.get("WORKBENCH_DATA")
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for folder in (Path(named) if named else None, beside):
        if folder is not None and (folder / "mnist").is_dir():
            return folder
    pytest.skip("no real data: set WORKBENCH_DATA to a folder that holds mnist/, omniglot/, caltech101/, weights/")


@pytest.fixture(scope="session", autouse=True)
def waits_for_the_disk() -> Generator[dict[str, str]]:
    """What the program asks SQLite. No test waits for the disk: a kill loses nothing that the system was given."""
    with pytest.MonkeyPatch.context() as patch:
        asked = connection.SYNCHRONOUS
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(connection, "SYNCHRONOUS", dict.fromkeys(asked, "off"))
        yield asked


@pytest.fixture(scope="session", autouse=True)
def _new_workspaces_are_copies():
    """The tables of a new workspace are copied from one that the steps of the schema made: these take 60 ms."""
    whole = migrations.migrate
    made = connection.sqlite3.connect(":memory:", isolation_level=None)
    made.execute(f"pragma application_id = {connection.APPLICATION_ID}")
    whole(made)

    def migrate(database, path=None, progress=quiet):
        if not database.execute("select count(*) from sqlite_master").fetchone()[0]:
            made.backup(database)
        whole(database, path, progress)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "migrate", migrate)
        yield
    made.close()


@pytest.fixture
def qtbot(qapp, request: pytest.FixtureRequest) -> PatientBot:
    """pytest-qt's bot with long waits."""
    return PatientBot(request)


@pytest.fixture(scope="session", autouse=True)
def _own_locks(tmp_path_factory: pytest.TempPathFactory):
    """Sweeps of the tests wait neither for those of a person nor for those of another worker of the suite."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_LOCKS", str(tmp_path_factory.mktemp("locks")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_plugins(tmp_path_factory: pytest.TempPathFactory):
    """No test loads what a person added."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_PLUGINS", str(tmp_path_factory.mktemp("plugins") / "folders.txt"))
        yield


@pytest.fixture(autouse=True)
def _no_thread_left_behind():
    """A thread that outlives its test is a failure of that test, not a crash three tests later."""
    before = set(threading.enumerate())
    yield
    left = outliving(before)
    assert not left, f"threads still running: {left}"
