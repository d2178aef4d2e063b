"""Number boxes: their text begins where the text of other fields does, and none is without that indent."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

import workbench
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.fields.number_box import number_box

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
BARE = re.compile(r"(?<!number_box\()\bQ(Double)?SpinBox\(")


def first_ink(image: QImage, row: QPoint, height: int) -> int:
    """Px from the left edge of a field to its text; the frame's 3 px are left out."""
    ground = QColor(image.pixel(row + QPoint(3, height // 2))).lightness()
    return next(
        x
        for x in range(3, image.width())
        if any(abs(QColor(image.pixel(row + QPoint(x, y))).lightness() - ground) > 60 for y in range(6, height - 6))
    )


@pytest.mark.parametrize("kind", [QSpinBox, QDoubleSpinBox])
def test_the_number_begins_where_the_words_of_a_field_do(session, qtbot, kind):
    session.theme.apply()
    box, field, both = number_box(kind()), QLineEdit(), QWidget()
    box.setRange(0, 9999)
    box.setValue(1111)
    field.setText(box.text())
    in_column(field, box, on=both)
    qtbot.shown(both, 200, 80)
    image = both.grab().toImage()
    begun = [first_ink(image, part.pos(), part.height()) for part in (field, box)]
    assert abs(begun[0] - begun[1]) <= 2, begun


@pytest.fixture
def german():
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize("typed", ["0,75", "0.75", ",75"])
def test_a_number_has_a_point_in_every_country_and_takes_a_comma(qtbot, german, typed):
    box = qtbot.addWidget(number_box(QDoubleSpinBox(maximum=99, value=0.6)))
    assert box.text() == "0.60", "as in the tables beside it"
    for receiver in (box, box.lineEdit()):
        box.setValue(0.6)
        box.selectAll()
        qtbot.keyClicks(receiver, typed)
        assert box.value() == 0.75
    box.selectAll()
    qtbot.keyClick(box, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert box.value() == 0.75


def test_a_whole_number_keeps_its_commas_in_every_country(qtbot, german):
    box = qtbot.addWidget(number_box(QSpinBox(maximum=99_999, value=12_000)))
    box.setGroupSeparatorShown(True)
    assert box.text() == "12,000"


def test_every_number_box_is_indented():
    folder = Path(workbench.__file__).parent / "ui"
    bare = [file.name for file in folder.rglob("*.py") if BARE.search(file.read_text("utf-8"))]
    assert bare == []
