"""Rows and columns of widgets: order, stretch, alignment, margins and gaps."""

import pytest
from PySide6.QtCore import QMargins, Qt
from PySide6.QtWidgets import QLabel, QWidget

from workbench.ui.widgets.boxes import in_column, in_row


@pytest.fixture
def page(qtbot):
    return qtbot.addWidget(QWidget())


def test_parts_stand_in_their_order_with_stretch_and_alignment(page):
    first, second, third = QLabel("1"), QLabel("2"), QLabel("3")
    head = in_row(first, 2, (second, 1))
    column = in_column(head, (third, Qt.AlignmentFlag.AlignLeft), on=page, margins=8, spacing=4)
    assert [head.itemAt(at).widget() for at in range(head.count())] == [first, None, second]
    assert [head.stretch(at) for at in range(head.count())] == [0, 2, 1]
    assert (column.itemAt(0).layout(), column.itemAt(1).widget()) == (head, third)
    assert (column.stretch(1), column.itemAt(1).alignment()) == (0, Qt.AlignmentFlag.AlignLeft)
    assert (column.contentsMargins(), column.spacing()) == (QMargins(8, 8, 8, 8), 4)
    assert page.layout() is column


def test_margins_are_0_the_style_s_or_four(page):
    assert in_row(on=page).contentsMargins() == QMargins(0, 0, 0, 0)
    styled = in_column(on=QWidget(page), margins=None)
    assert styled.contentsMargins() != QMargins(0, 0, 0, 0)
    assert in_column(margins=(1, 2, 3, 4)).contentsMargins() == QMargins(1, 2, 3, 4)
