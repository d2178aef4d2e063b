"""A combo box shortens a title with an ellipsis."""

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
