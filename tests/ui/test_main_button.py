"""Enter in a dialog: its main button from a field, the button with the focus, and nothing where it is disabled."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPushButton, QSpinBox, QTableWidget

from workbench.datasets.inspection import Inspection
from workbench.results.class_geometry import ClassRow, ClassTable
from workbench.results.explanations import ConfusedPair
from workbench.ui.pages.map.side.class_table import ClassTableDialog
from workbench.ui.pages.retrieval.classes.mistakes_dialog import MistakesDialog
from workbench.ui.pages.setup.data.dialog import DataDialog
from workbench.ui.plots.curve import Curve
from workbench.ui.plots.table import CurveNumbers, CurveTable, TableDialog
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.images.pictures import PictureLoader

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


class Planted(MainButtonDialog):
    """Two fields, three buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.field, self.number = QLineEdit(), QSpinBox()
        self.help, self.cancel, self.main = icon_button("question", "Help"), button("Cancel"), button("Start")
        in_column(self.field, self.number, self.help, self.cancel, self.main, on=self)
        self.pressed: list[str] = []
        for name in ("help", "cancel", "main"):
            getattr(self, name).clicked.connect(lambda _=False, name=name: self.pressed.append(name))


@pytest.fixture
def dialog(qtbot):
    return qtbot.shown(Planted())


@pytest.mark.parametrize(
    ("place", "pressed"),
    [("field", "main"), ("number", "main"), ("help", "help"), ("cancel", "cancel"), ("main", "main")],
)
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_presses_the_button_with_the_focus_or_the_main_one(dialog, qtbot, place, pressed, key):
    getattr(dialog, place).setFocus()
    qtbot.keyClick(getattr(dialog, place), key)
    assert dialog.pressed == [pressed]


def test_enter_does_nothing_while_the_main_button_is_disabled(dialog, qtbot):
    dialog.main.setEnabled(False)
    dialog.field.setFocus()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.pressed == []
    assert dialog.isVisible()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def class_table(session):
    dialog = ClassTableDialog()
    row = ClassRow(0, "ant", 3, 0.5, 0.1, 0.0, 0.9, 0.2, "bee", 0.0)
    dialog.show_table(ClassTable(1, "cosine", by_proxies=False, rows=(row,)))
    return dialog, dialog.view


def plot_table(session):
    curve = Curve()
    curve.append([0], [2.5])
    dialog = TableDialog("Loss", CurveTable(CurveNumbers("step", [("loss", curve)])))
    return dialog, dialog.view


def data_table(session):
    names, counts = ["0", "1"], np.full((1, 2), 25)
    dialog = DataDialog("mine", Inspection(50, 2, ("train",), counts, names, [], np.empty((0, 2)), [], [], []))
    dialog.tabs.setCurrentIndex(1)
    return dialog, dialog.tabs.currentWidget().findChild(QTableWidget)


def mistakes(session):
    dialog = MistakesDialog(PictureLoader(session))
    dialog.pairs.show([ConfusedPair(0, "ant", 1, "bee", 2, 0.5)])
    dialog.buttons.refresh()
    return dialog, dialog.pair_table


@pytest.mark.parametrize("make", [class_table, plot_table, data_table, mistakes])
def test_enter_in_a_table_replaces_nothing_in_the_clipboard_and_closes_nothing(qtbot, session, make):
    dialog, table = make(session)
    qtbot.shown(dialog)
    QGuiApplication.clipboard().setText("of another program")
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == "of another program"
    assert dialog.isVisible()
    copy = next(found for found in dialog.findChildren(QPushButton) if found.text().startswith("Copy"))
    copy.setFocus()
    qtbot.keyClick(copy, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() != "of another program"
