"""A combo box shortens a title with an ellipsis."""

from itertools import product

import pytest

from workbench.ui.widgets.fields.elided_box import ElidedBox

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def box(qtbot):
    made = ElidedBox()
    made.addItem("My birds & others (2026), mobilenetv4_conv_small")
    qtbot.addWidget(made)
    made.setMinimumContentsLength(8)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_title_without_room_ends_in_an_ellipsis(box):
    box.resize(160, box.height())
    assert box.written().startswith("My birds")
    assert box.written().endswith("…")


def test_a_title_with_room_is_whole(box):
    box.resize(600, box.height())
    assert box.written() == box.currentText()


def test_titles_that_begin_alike_are_told_apart_where_they_are_shortened(box):
    settings = product((0.2, 0.4), (32, 64), (1, 10))
    titles = [f"margin {margin}, scale {scale}, proxy learning rate {rate}" for margin, scale, rate in settings]
    box.addItems(titles)
    box.resize(280, box.height())
    seen = set()
    for title in titles:
        box.setCurrentText(title)
        assert box.written() != title
        seen.add(box.written())
    assert len(seen) == len(titles)
