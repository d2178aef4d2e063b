"""After the first paint the engine is loaded: its device is shown, or that it is not known."""

import pytest

from workbench.problem import Problem
from workbench.ui.garbage import Garbage
from workbench.ui.main_window import MainWindow
from workbench.ui.warm_up import WarmUp

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def refuse(progress):
    raise Problem("A library that the engine needs does not load.")


def find(progress):
    return {}, "cpu"


@pytest.mark.parametrize(("load", "said"), [(find, "Device: CPU"), (refuse, "Device: unknown")])
def test_the_status_bar_does_not_go_on_detecting(qapp, qtbot, session, monkeypatch, load, said):
    monkeypatch.setattr(Garbage, "settle", lambda garbage: None)  # it would freeze what other tests made
    monkeypatch.setattr(session, "keep_spare", lambda: None)
    garbage = Garbage(qapp)
    window = MainWindow(session)
    qtbot.addWidget(window)
    warm_up = WarmUp(session, window, load, garbage)
    assert window.status.device.text() == "Device: detecting…"
    warm_up.begin()
    qtbot.waitUntil(lambda: window.status.device.text() == said)
    garbage.end()
