"""Which parameter of a sweep matters, in the Sweeps panel."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QPainter

from workbench.entries import catalog
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.sweeps.importance import Importance, Part, Share
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.ui.style import theme
from workbench.ui.sweeps.importance_plot import ImportancePlot
from workbench.ui.sweeps.importance_tab import COMPUTING
from workbench.ui.sweeps.panel import SweepsPanel
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", extend=True)

SHOWN = Importance("MAP@R", 40, (Share("training.lr", 0.812, 0.7, 0.9), Share("loss.name", 0.05, 0.0, 0.1)), 0.6)
TITLES = {"training.lr": "Learning rate", "loss.name": "Loss"}


def stored(workspace, trials):
    """A sweep of so many trials; the value of each depends on the size of the embedding alone."""
    ranges = [read("training.lr=1e-4..1e-1:log"), read("embedding.dim=16..128")]
    plan = planned(read_config("sample-digits"), ranges, "random", catalog.current(), trials=trials)
    number = starting.store(workspace, plan)
    for trial in sweeps.trials(workspace, number):
        ended(workspace, trial)
    return number


def ended(workspace, trial):
    with workspace.writing() as db:
        sql = "update sweep_trials set state = 'done', objective = ? where id = ?"
        db.execute(sql, (trial.setting["embedding.dim"] / 128, trial.id))


@pytest.fixture
def panel(qtbot, session):
    """The Sweeps panel of a workspace with a sweep of 3 trials and one of 12."""
    stored(session.workspace, 3)
    stored(session.workspace, 12)
    made = qtbot.addWidget(SweepsPanel(session))
    made.show()
    qtbot.waitUntil(lambda: made.trials.rowCount() == 12)
    yield made
    made.hide()


def test_the_shares_are_computed_when_their_tab_is_opened_and_again_when_a_trial_has_ended(
    qtbot, panel, session, tmp_path
):
    last = sweeps.trials(session.workspace, 2)[-1]
    with session.workspace.writing() as db:
        db.execute("update sweep_trials set state = 'queued', objective = null where id = ?", (last.id,))
    panel.refresh()
    shown = panel.importance
    assert not shown.computing
    panel.tabs.setCurrentWidget(shown)
    assert (shown.computing, shown.words.text()) == (True, COMPUTING)
    panel.hide()
    assert not shown.computing
    panel.show()
    qtbot.waitUntil(lambda: "11 settings" in shown.plot.title)
    assert not shown.computing
    ended(session.workspace, last)
    qtbot.waitUntil(lambda: "12 settings" in shown.plot.title)
    assert shown.plot.isVisible()
    head, first, second = shown.plot.rows()
    assert (first[1], second[1]) == ("Embedding size", "Learning rate")
    assert first[head.index("share %")] > 80
    assert first[head.index("settings")] == 12
    assert "among 12 settings that finished training" in shown.words.text()
    panel.choose(1)
    qtbot.waitUntil(lambda: not shown.computing and shown.words.text().endswith("there are 3."))
    assert not shown.plot.isVisible()
    panel.choose(2)
    qtbot.waitUntil(shown.plot.isVisible)
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    qtbot.waitUntil(lambda: not shown.plot.isVisible())
    assert shown.words.text() == ""


def test_a_bar_is_as_long_as_its_share(qtbot):
    """Drawn on a picture: blue pixels of the two rows, whose shares are 81.2 and 5 percent."""
    plot = qtbot.addWidget(ImportancePlot())
    plot.show_importance(SHOWN, TITLES)
    image = QImage(QSize(800, 72), QImage.Format.Format_RGB32)
    image.fill("white")
    painter = QPainter(image)
    plot.paint(painter, image.rect().toRectF(), theme.LIGHT)
    painter.end()
    accent = theme.LIGHT.accent.lower()
    longest = [
        max(sum(image.pixelColor(x, y).name() == accent for x in range(800)) for y in rows)
        for rows in (range(26), range(26, 52))
    ]
    assert longest[0] / longest[1] == pytest.approx(0.812 / 0.05, rel=0.05)


def test_the_plot_says_and_copies_its_shares(qtbot):
    plot = qtbot.addWidget(ImportancePlot())
    plot.show_importance(SHOWN, TITLES)
    assert plot.describe() == (
        "Parameter importance: share of the variance of MAP@R, 40 settings: Learning rate 81.2% [70.0, 90.0]; "
        "Loss 5.0% [0.0, 10.0]."
    )
    assert plot.rows()[1][:5] == ["training.lr", "Learning rate", pytest.approx(81.2), 70.0, 90.0]
    assert "Hutter" in plot.picture.toolTip()


def test_shares_of_some_settings_stand_below_a_heading_that_names_these(qtbot):
    own = Importance("MAP@R", 14, (Share("loss.margin", 0.6, 0.5, 0.7), Share("training.lr", 0.3, 0.2, 0.4)), 0.5)
    part = Part("loss.name", ("triplet",), "Triplet", ("loss.margin",), own)
    plot = qtbot.addWidget(ImportancePlot())
    plot.show_importance(SHOWN, TITLES)
    least = plot.picture.minimumHeight()
    plot.show_importance(replace(SHOWN, parts=(part,) * 4), {**TITLES, "loss.margin": "Margin"})
    assert plot.picture.minimumHeight() > least
    head, *_, last = plot.rows()
    shown = dict(zip(head, last, strict=True))
    assert (shown["parameter"], shown["share %"], shown["settings"]) == ("Margin", 60.0, 14)
    assert shown["among"] == "among the 14 settings with Triplet"
    assert plot.describe().endswith("; Margin 60.0% [50.0, 70.0] among the 14 settings with Triplet.")
    assert [row[6] for row in plot.rows()[1:3]] == ["", ""], "those of all settings"
