"""Damaged and hostile workspaces in the real window: opened, every page shown, a run clicked, compared and reported.

For each kind: no uncaught exception, nothing that works for ever, what went wrong said in the message bar, markup in
names shown as text, and no file changed outside.
"""

import json
import random
import shutil

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QTabWidget

from tests.campaign import hostile, repairs
from tests.campaign.hostile import in_sql
from tests.ui.started import shown_window
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.state.session import PAGES
from workbench.ui.window.process.defects import Defects

NAME = "<img src=x onerror=alert(1)><b>bold</b>\u202e\x1b[31m\n&amp;"
NAMED = (
    ("update runs set name = ?, note = ?", (NAME, NAME)),
    ("update datasets set class_names = ?, name = ?", (json.dumps([NAME, "<b>b</b>", "../c"]), NAME)),
    ("update samples set class = ?, path = ? || id", (NAME, NAME)),
    ("update experiments set name = ?", (NAME,)),
    ("update tags set tag = ?", (NAME,)),
)

CHARTS = json.dumps([{"title": 7, "x_title": NAME, "note": "", "marks": [{"title": "", "look": "stars"}]}])


def _hostile(way):
    """`way(rng, space, victim)` applied to the workspace of tests/campaign/hostile.py, beside a victim."""

    def make(folder):
        victim = folder / "victim"
        victim.mkdir()
        hostile.fill_victim(victim)
        hostile.make_space(folder / "space")
        way(random.Random(3), folder / "space", victim)

    return make


def _rows(*statements):
    return _hostile(lambda rng, space, victim: in_sql(space, *statements))


def _json(text):
    return _rows(*((f'update {table} set "{column}" = ?', (text,)) for table, column in hostile.JSON_COLUMNS))


def _paths(name):
    return _rows(*((f'update or ignore {table} set "{column}" = ?', (name,)) for table, column in hostile.PATH_COLUMNS))


def _damaged(way, copy="closed"):
    """A kind of damage of tests/campaign/repairs.py."""

    def make(folder):
        shutil.copytree(repairs.template() / copy, folder / "space")
        way(random.Random(3), folder / "space", repairs.Damage())

    return make


def _without(*patterns):
    def make(folder):
        shutil.copytree(repairs.template() / "closed", folder / "space")
        for pattern in patterns:
            for path in (folder / "space" / "runs").glob(pattern):
                path.unlink()

    return make


ASKED = "asked"  # instead of a sentence in the message bar: whether to repair it
KINDS = {
    "cut": (_damaged(repairs.cut_database), ASKED),
    "zeroed": (_damaged(repairs.zero_database), ASKED),
    "flipped": (_damaged(repairs.flip_database), ASKED),
    "empty": (_damaged(repairs.empty_database), ASKED),
    "noise": (_damaged(repairs.garbage), ASKED),
    "deleted": (_damaged(repairs.delete_database), ASKED),
    "WAL cut": (_damaged(repairs.cut_wal, "in-wal"), ""),  # as a kill leaves it
    "WAL flipped": (_damaged(repairs.flip_wal, "in-wal"), "cannot be read"),
    "newer": (_damaged(repairs.newer), "newer Workbench"),
    "foreign": (_damaged(repairs.foreign), "another program"),
    "schema": (_rows((hostile.SCHEMAS[0], ())), ASKED),
    "ids": (_hostile(hostile.odd_ids), ASKED),
    "names": (_rows(*NAMED), ""),
    "JSON {": (_json("{"), "could not be read"),
    "JSON deep": (_json(hostile.DEEP), "could not be read"),
    "JSON of another form": (_json('["\\ud800"]'), "could not be read"),
    "paths out": (_paths("../../victim/secret.npy"), "not"),
    "paths to a device": (_paths("/dev/zero"), "not"),
    "configs": (_rows(("update runs set config = ?", ("name = ",))), "cannot be"),
    "measurements": (
        _rows(("insert into deployments select id, 'int8 0.001', '{}', '2026' from evaluations", ())), "",
    ),
    "charts": (_rows(("update charts set charts = ?", (CHARTS,)),), "could not be read"),
    "places": (
        _rows(("insert into placements values (1, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)", (NAME,) * 9)), "",
    ),
    "decisions": (
        _rows(("insert into label_decisions values (1, 5, 'relabel', ?, ?, null)", (2**62, NAME))), "",
    ),
    "numbers": (_rows(("update runs set epochs = -1, total = ?, done = -1, colour = ?", (2**62, 2**62))), ""),
    "links": (_hostile(hostile.link), ""),
    "pipes": (_hostile(hostile.no_file), ""),
    "array": (_damaged(repairs.spoil_array), ""),
    "journal": (_damaged(repairs.spoil_journal), ""),
    "strange folder": (_damaged(repairs.strange_folder), ""),
    "arrays gone": (_without("*/*.npy", "*/*.npz"), "is missing"),
    "a file": (lambda folder: (folder / "space").write_text("letters"), "is a file"),
}  # fmt: skip


@pytest.fixture
def window(qtbot, session):
    return shown_window(qtbot, session)


@pytest.fixture
def traces(window):
    """The uncaught exceptions of all threads."""
    caught, defects = [], Defects(window)
    defects.noticed.connect(lambda problem, trace: caught.append(trace))
    defects.install()
    yield caught
    defects.remove()


def _visit(qtbot, window, session):
    """What a person does first in a workspace; each step is waited for until nothing works any more."""

    def idle():
        qtbot.deliver()
        qtbot.waitUntil(lambda: session.activity.newest_working is None)

    def turn_tabs(name):
        for tabs in window.pages.page(name).findChildren(QTabWidget):
            for place in range(tabs.count()):
                tabs.setCurrentIndex(place)
                idle()

    if session.runs():
        shown = window.runs.list
        first = shown.visualRect(shown.model().index(0, 0)).center()
        QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=first)
    for run in session.runs():
        session.show_run(run.id)
        for name in PAGES:
            session.show_page(name)
            qtbot.waitUntil(lambda name=name: window.session.page == name)
            idle()
            turn_tabs(name)
            if name == "map":
                chart = window.pages.page("map")
                chart.model.choose_method(MapMethod("pca"))
                idle()
                QTest.mouseClick(chart.canvas, Qt.MouseButton.LeftButton, pos=chart.canvas.rect().center())
            idle()
    session.ticks.choose(run.id for run in session.runs())
    session.show_page("compare")
    idle()
    turn_tabs("compare")
    session.show_page("report")
    page = window.pages.page("report")
    idle()
    page.export()
    idle()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_window_survives(qtbot, session, window, traces, tmp_path, kind):
    make, words = KINDS[kind]
    folder = tmp_path / "there"
    folder.mkdir()
    make(folder)
    before = hostile.seen(folder, folder / "space")
    said, asked = [], []
    session.noticed.connect(lambda what: said.append(str(what)))
    opening = window.opening
    opening.open_workspace(folder / "space")
    opened = lambda: session.workspace.path == folder / "space"  # noqa: E731 - two waits for one fact
    qtbot.waitUntil(lambda: opened() or bool(said) or hasattr(opening, "question"))
    if hasattr(opening, "question"):
        asked.append(opening.question.words.text())
        opening.question.answers["keep"].click()
    if opened():
        _visit(qtbot, window, session)
    assert not traces, traces[0]
    assert hostile.seen(folder, folder / "space") == before
    assert bool(asked) == (words == ASKED)
    assert words == ASKED or words in " ".join(said)
    rich = [shown.text() for shown in window.findChildren(QLabel) if "onerror" in shown.text()]
    assert all(shown.textFormat() == Qt.TextFormat.PlainText for shown in window.findChildren(QLabel)
               if shown.text() in rich)  # fmt: skip
