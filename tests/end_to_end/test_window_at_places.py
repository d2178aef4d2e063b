"""Digits at a workstation, a Slurm and a Ray from the real window: sent, left alone, ended, resumed, brought home."""

import json
import os
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import monotonic

import pytest
from PySide6.QtCore import Qt, QTimer

from tests.clusters.there import there
from tests.clusters.training import python
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.places import records
from workbench.ui.docks.run_row import about
from workbench.ui.models.run_list import RUN_ROLE
from workbench.ui.state.runs import place_follower
from workbench.ui.state.session import Session
from workbench.ui.sweeps.panel import SweepsPanel
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace

FIGURES = os.environ.get("WORKBENCH_FIGURES")  # a file for what was measured
EVERY = 20  # epochs from one evaluation to the next
WATCH = 20  # ms between two looks at the journal at the place
CONFIG = RunConfig.model_validate(
    {
        "name": "From the window", "device": "cpu", "seeds": 2, "backbone": {"name": "conv4", "width": 8},
        "embedding": {"dim": 8}, "training": {"epochs": 20_000, "batch_size": 128},  # until it is asked to end
        "evaluation": {"every": EVERY, "probe_every": 1000},
    }
)  # fmt: skip
WAITS = {"ssh": "Queued · at there", "slurm": "Queued · at there, ", "ray": "Queued · at there, runs before it are"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:numba"),
]


@pytest.fixture(params=["ssh", "slurm", "ray"])
def place(request, tmp_path, monkeypatch):
    """A real place of that kind."""
    kind, fields = request.param, {}
    values = there(kind)
    if kind == "ray":
        fields = {"url": values["URL"], "at_once": 1}
    elif kind == "slurm":
        monkeypatch.setenv("SLURM_CONF", values["SLURM_CONF"])
        fields = {"at_once": 1, "time": "30"}
    else:
        fields = {"host": values["HOST"], "ssh_config": values["CONFIG"]}
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setenv("WORKBENCH_SETTINGS", str(tmp_path / "window.ini"))
    own = {"kind": kind, "name": "there", "folder": str(tmp_path / "runs"), "python": python(tmp_path)}
    records.store(records.made(own | fields))
    return records.named("there")


@pytest.fixture
def received(monkeypatch):
    """The bytes of each look of all windows."""
    sizes = []

    class Counting(place_follower.Following):
        def look(self, shown=0):
            looked = super().look(shown)
            sizes.append(looked.received)
            return looked

    monkeypatch.setattr(place_follower, "Following", Counting)
    return sizes


@pytest.fixture
def opened(qtbot, tmp_path):
    """Opens the window on the workspace; one that a test leaves open is closed."""
    windows = []

    def open_window():
        session = Session(Workspace(tmp_path / "space", create=True))
        session.set_catalog(catalog.current())
        window = MainWindow(session)
        qtbot.addWidget(window)
        window.show()
        window.runs.model.arrange(replace(window.runs.model.arrangement, grouping="none"))
        windows.append(window)
        return window

    def close(window):
        assert window.close()
        window.session.close()
        windows.remove(window)

    open_window.close = close
    yield open_window
    for window in tuple(windows):
        close(window)


class Delays:
    """How old points are when the window gets them: from their line at the place to its signal."""

    def __init__(self, journal: Path, session: Session) -> None:
        self._journal, self._offset, self._written = journal, 0, {}
        self.delays, self.steps = [], 0
        session.scalars_arrived.connect(self._take)
        self._timer = QTimer(session, interval=WATCH)
        self._timer.timeout.connect(self._watch)
        self._timer.start()

    def _watch(self):
        if not self._journal.exists():
            return
        with self._journal.open("rb") as file:
            file.seek(self._offset)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        first, self._offset = not self._offset, self._offset + len(whole)
        for line in whole.splitlines():
            for name, step, _ in json.loads(line).get("scalars", ()):
                if name == "batch/loss" and not first:  # of the first look nothing is known
                    self._written.setdefault(step, monotonic())

    def _take(self, points):
        steps = [step for name, step, _ in points if name == "batch/loss"]
        self.steps = max([self.steps, *steps])
        self.delays += [monotonic() - self._written.pop(step) for step in steps if step in self._written]


def said(window, run_id):
    """The second line of a run in the list; nothing before the list has the run."""
    model = window.runs.model
    run = model.index(model.row_of(run_id)).data(RUN_ROLE)
    return about(run, {}) if run is not None else ""


def test_seeds_are_sent_left_alone_ended_resumed_and_brought_home(qtbot, place, opened, received):
    window = opened()
    session, page = window.session, window.pages.page("setup")
    qtbot.waitUntil(lambda: [known.name for known in session.places.all] == ["there"])
    page.take_config(CONFIG)
    page.beside.where.set_value("there")
    page.beside.where.edited.emit()
    qtbot.waitUntil(page.start.isEnabled)
    assert page.start.text() == "Start at there"
    began = monotonic()
    qtbot.mouseClick(page.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(session.runs()) == 2 and session.run_id is not None)
    sent = monotonic() - began
    first, second = sorted(run.id for run in session.runs())
    assert session.run_id == first
    journal = Path(place.folder) / session.run(first).placement.uid / "journal.jsonl"
    live = Delays(journal, session)
    qtbot.waitUntil(lambda: said(window, second).startswith(WAITS[place.kind]))
    qtbot.waitUntil(lambda: live.steps > 0)
    first_point = monotonic() - began
    qtbot.waitUntil(lambda: said(window, first).startswith("Epoch ") and "at there" in said(window, first))
    seen = live.steps
    opened.close(window)

    window = opened()
    session = window.session
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    session.show_run(second)
    qtbot.waitUntil(window.run_actions.end.isEnabled)
    window.run_actions.end.trigger()
    window.ending.ask.answers["stop"].click()
    qtbot.waitUntil(lambda: not session.run(second).placement.open)
    assert session.run(second).status == "cancelled", "it was taken out of the line"
    session.show_run(first)
    live = Delays(journal, session)
    qtbot.waitUntil(lambda: live.steps > seen)
    window.run_actions.end.trigger()
    window.ending.ask.answers["stop"].click()
    qtbot.waitUntil(lambda: not session.run(first).placement.open)
    assert session.run(first).status in ("stopped", "interrupted")
    seen, delays = live.steps, live.delays
    qtbot.waitUntil(window.run_actions.resume.isEnabled)
    window.run_actions.resume.trigger()
    qtbot.waitUntil(lambda: session.run(first).live)
    opened.close(window)

    window = opened()
    session = window.session
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    session.show_run(first)
    live = Delays(journal, session)
    qtbot.waitUntil(lambda: live.steps > seen)
    session.show_page("train")
    header = window.pages.page("train").header
    qtbot.waitUntil(header.stop.isEnabled)
    qtbot.mouseClick(header.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.run(first).status == "stopped")
    whole = monotonic() - began
    delays += live.delays
    qtbot.waitUntil(lambda: not session.run(first).placement.open)
    workspace = session.workspace
    evaluated = [evaluation.epoch for evaluation in workspace.evaluations(first)]
    last = session.run(first).epoch
    assert evaluated == sorted({*range(0, last, EVERY), last})
    assert (workspace.folder(first) / journal.name).read_bytes() == journal.read_bytes()
    session.show_page("map")
    maps = window.pages.page("map")
    qtbot.waitUntil(lambda: maps.canvas.data is not None)
    assert len(maps.canvas.data.points) > 0
    if FIGURES:
        figures = {"what": place.kind, "sent": sent, "first_point": first_point, "whole": whole, "points": len(delays),
                   "delay": median(delays), "longest": max(delays), "bytes": sum(received),
                   "load": os.getloadavg()}  # fmt: skip
        with Path(FIGURES).open("a") as file:
            file.write(json.dumps(figures) + "\n")


@pytest.mark.parametrize("place", ["slurm"], indirect=True)
def test_a_sweep_is_started_at_a_cluster_from_its_dialog(qtbot, place, opened):
    """Its settings are one array job, two at a time. The dialog waits for the check of its config."""
    records.store(place.model_copy(update={"at_once": 2}))
    window = opened()
    session, page = window.session, window.pages.page("setup")
    qtbot.waitUntil(lambda: [known.name for known in session.places.all] == ["there"])
    page.take_config(
        CONFIG.model_copy(update={"seeds": 1, "training": CONFIG.training.model_copy(update={"epochs": 1})})
    )
    page.beside.where.set_value("there")
    qtbot.waitUntil(page.sweep.isEnabled)
    page.ask_sweep()
    dialog = page.sweep_dialog
    assert dialog.where.value() == "there"
    dialog.rows[0].field.set_value("training.lr")
    qtbot.keyClicks(dialog.rows[0].values, "0.1, 0.01, 0.001")
    qtbot.waitUntil(dialog.start.isEnabled)
    dialog.start.click()
    qtbot.waitUntil(lambda: bool(window.findChildren(SweepsPanel)))
    (panel,) = window.findChildren(SweepsPanel)
    jobs = set()

    def is_done():
        placed = [run.placement for run in session.runs() if run.placement is not None]
        jobs.update(placement.job.partition("_")[0] for placement in placed if placement.job)
        return panel.model.shown is not None and panel.model.shown.sweep.state == "done"

    qtbot.waitUntil(is_done)
    assert len(jobs) == 1, "one array"
    assert "Its runs train at there." in panel.words.text()
    assert [trial.state for trial in panel.model.shown.trials] == ["done"] * 3
    assert len({trial.objective for trial in panel.model.shown.trials}) == 3
    panel.close()
