"""A new palette on a window that was about to be painted."""

import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from workbench.ui.style import dressing
from workbench.ui.style.dressing import Dressing

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show
LABELS = 200


class Counted(QWidget):
    """Counts how often it is painted."""

    def __init__(self):
        super().__init__()
        self.setFixedSize(80, 20)
        self.painted = 0

    def paintEvent(self, _event):  # noqa: N802
        self.painted += 1


def test_a_window_that_was_about_to_be_painted_is_painted_with_the_new_palette(qtbot, monkeypatch):
    """Qt dropped the due paint and asked for no other: the window stood still until its size changed."""
    monkeypatch.setattr(dressing, "TURN", 1e-4)
    window = qtbot.addWidget(QWidget())
    counted, column = Counted(), QVBoxLayout(window)
    column.addWidget(counted)
    for number in range(LABELS):
        column.addWidget(QLabel(str(number)))
    with qtbot.waitExposed(window):
        window.show()
    qtbot.waitUntil(lambda: counted.painted > 0)
    palette, before = Dressing(window), counted.painted
    counted.update()
    with qtbot.waitSignal(palette.finished):
        palette.begin()
        assert not window.updatesEnabled(), "the palette takes several turns"
    qtbot.waitUntil(lambda: counted.painted > before)
    last = counted.painted
    counted.update()
    qtbot.waitUntil(lambda: counted.painted > last)
