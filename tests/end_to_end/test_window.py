"""The main job in the window, with a real worker thread, the real analysis process and real images: form to report."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.waits import HANG
from workbench.entries import catalog
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:numba")


@pytest.fixture
def session(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_SETTINGS", str(tmp_path / "window.ini"))
    made = Session(Workspace(tmp_path / "space", create=True))
    made.set_catalog(catalog.current())
    made.theme.apply()
    yield made
    made.close()


def status_of(session, run_id):
    """What the run does now; a run that failed fails the test with its reason, at once."""
    run = session.workspace.run(run_id)
    if run.status == "failed":
        pytest.fail(f"the run failed: {run.problem}")
    return run.status


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_a_new_user_presses_start_and_ends_with_a_report(qtbot, session, tmp_path):
    window = qtbot.addWidget(MainWindow(session))
    window.resize(1280, 720)
    window.show()

    setup = window.pages.page("setup")
    qtbot.waitUntil(setup.start.isEnabled)
    qtbot.mouseClick(setup.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.run_id is not None)
    run_id = session.run_id

    session.show_page("train")
    train = window.pages.page("train")
    qtbot.waitUntil(lambda: status_of(session, run_id) == "running")
    control = session.control(run_id)
    assert control is not None
    control.pause()
    qtbot.waitUntil(lambda: status_of(session, run_id) == "waiting")
    control.resume()
    qtbot.waitUntil(lambda: len(session.workspace.evaluations(run_id)) >= 2)
    control.stop()
    qtbot.waitUntil(lambda: status_of(session, run_id) in ("stopped", "done"))
    qtbot.waitUntil(lambda: train.evaluations.model.rowCount() >= 2)
    run = session.workspace.run(run_id)
    assert run.best["MAP@R"] > session.workspace.evaluations(run_id)[0].metrics["MAP@R"], "it learned"

    session.show_page("map")
    maps = window.pages.page("map")
    qtbot.waitUntil(lambda: maps.canvas.data is not None)
    assert maps.canvas.data.method == "pca", "PCA is there at once"
    qtbot.waitUntil(lambda: maps.canvas.data.method == "umap")
    assert "trustworthiness" in maps.caption.text()
    assert maps.canvas.data.proxies is not None
    assert len(maps.canvas.data.proxies) == 10

    session.show_page("retrieval")
    retrieval = window.pages.page("retrieval")
    qtbot.waitUntil(lambda: len(retrieval.result.cards) > 0)
    first = session.query
    QTest.mouseClick(retrieval.result.cards[0], Qt.MouseButton.LeftButton)
    assert retrieval.browsing.listing.position_of(session.query) >= 0
    assert session.query != first

    session.show_page("report")
    report = window.pages.page("report")
    qtbot.waitUntil(lambda: report.preview.count >= 3)
    report.folder.setText(str(tmp_path / "out"))
    qtbot.mouseClick(report.export_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: (tmp_path / "out" / "report.pdf").exists() and bool(report.model.written))
    html = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "UMAP" in html
    assert "Sample: Digits" in html
    assert (tmp_path / "out" / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert session.workspace.artefacts(run_id, "report")


@pytest.mark.slow  # tests/ui/test_train.py watches runs of another program every time
@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_a_run_of_another_process_is_followed_live(qtbot, session, tmp_path):
    window = qtbot.addWidget(MainWindow(session))
    window.show()
    arrived: list[tuple[str, int, float]] = []
    session.scalars_arrived.connect(arrived.extend)
    words = [
        "run",
        "sample-digits",
        "--workspace",
        str(session.workspace.path),
        "--set",
        "training.epochs=1",
        "--set",
        "dataset.image_size=8",
        "--set",
        "backbone.width=8",
        "--quiet",
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    other = subprocess.Popen([sys.executable, "-m", "workbench", *words], env=environment, stdout=subprocess.DEVNULL)
    try:
        qtbot.waitUntil(lambda: bool(session.runs()))
        session.show_run(session.runs()[0].id)
        qtbot.waitUntil(lambda: status_of(session, session.run_id) == "done")
    finally:
        assert other.wait(HANG) == 0
    assert session.control(session.run_id) is None, "it is another program's run"
    qtbot.waitUntil(lambda: any(name == "batch/loss" for name, _, _ in arrived))
