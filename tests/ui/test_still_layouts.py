"""Labels and tiles whose words and numbers change without a layout of what is around them."""

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from tests.ui.seen import Counted
from workbench.ui.widgets.labels import ElidedLabel
from workbench.ui.widgets.numbers.tile import Tile

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.fixture
def row(qtbot):
    """A row that is shown, with room for two parts."""
    made = QWidget()
    QHBoxLayout(made)
    qtbot.addWidget(made)
    made.resize(600, 80)
    made.show()
    return made


def laid_out(qtbot, parent, *parts):
    for part in parts:
        parent.layout().addWidget(part, 1)
    qtbot.deliver()
    return Counted(parent, QEvent.Type.LayoutRequest)


def test_a_label_asks_for_a_layout_at_every_text_and_an_elided_one_does_not(row, qtbot):
    plain, elided = QLabel("Step 1"), ElidedLabel("Step 1")
    layouts = laid_out(qtbot, row, plain, elided)
    elided.setText("Step 1,000 of 1,000")
    qtbot.deliver()
    assert layouts.count == 0
    plain.setText("Step 1,000 of 1,000")
    qtbot.deliver()
    assert layouts.count > 0


def test_an_elided_label_is_as_high_as_a_line_and_says_its_text(row, qtbot):
    plain, elided = QLabel("Step"), ElidedLabel("Step")
    laid_out(qtbot, row, plain, elided)
    assert elided.sizeHint().height() == plain.sizeHint().height()
    elided.setText("Other")
    assert (elided.text(), elided.accessibleName()) == ("Other", "Other")
    elided.setAccessibleName("Shown run")
    elided.setText("Another")
    assert (elided.text(), elided.accessibleName()) == ("Another", "Shown run")


def test_a_tile_keeps_its_place_with_another_number_of_the_same_length(row, qtbot):
    tile = Tile("Speed", "#0000ff")
    tile.show_number("1,100", "img/s", "8 ms per step")
    layouts = laid_out(qtbot, row, tile)
    tile.show_number("1,111", "img/s", "9 ms per step")
    qtbot.deliver()
    assert layouts.count == 0
    assert tile.number.text() == "1,111"


def parts_of(tile):
    return [part for part in (tile.caption, tile.number, tile.unit, tile.below, tile.spark) if part is not None]


@pytest.mark.parametrize("text", ["session", "large"])
@pytest.mark.parametrize("number", ["7", "1,234,567", "1 h 23 min"])
def test_the_parts_of_a_tile_are_whole_and_apart(row, qtbot, request, text, number):
    request.getfixturevalue(text)
    tile = Tile("Speed", "#0000ff")
    tile.show_number(number, "img/s", "8 ms per step")
    laid_out(qtbot, row, tile)
    places = [part.geometry() for part in parts_of(tile) if part.isVisible()]
    assert all(tile.contentsRect().contains(place) for place in places)
    assert not [(one, other) for one in places for other in places if one is not other and one.intersects(other)]
    assert tile.number.width() >= tile.number.fontMetrics().horizontalAdvance(tile.number.text())
    assert tile.unit.width() >= tile.unit.sizeHint().width()


def test_a_number_without_room_is_made_small_once_and_large_again_with_room(qtbot):
    tile = Tile("Time left", "#0000ff")
    qtbot.addWidget(tile)
    tile.show_number("123 h 45 min", "", "after 1 h")
    tile.resize(90, 70)
    tile.show()
    qtbot.deliver()
    assert tile.number.property("role") == "strong"
    assert not tile.spark.isVisible()
    layouts = Counted(tile, QEvent.Type.LayoutRequest)
    qtbot.deliver()
    assert layouts.count == 0  # its own change of size does not ask for another without end
    tile.resize(400, 70)
    qtbot.deliver()
    assert tile.number.property("role") == "title"
    assert tile.spark.isVisible()
