"""Tables draw a minus sign; what is copied keeps the hyphen, so that numbers parse."""

from PySide6.QtCore import QLocale, Qt

from workbench.ui.pages.compare.style.word_table import WordTable, table_view
from workbench.ui.plots.curve import Curve
from workbench.ui.plots.items import number_axes
from workbench.ui.plots.table import CurveNumbers, CurveTable, TableDialog


def drawn(view, row, column):
    index = view.model().index(row, column)
    return view.itemDelegate().displayText(index.data(), QLocale.c())


def test_a_table_of_compare(qtbot):
    model = WordTable()
    model.show(["Query", "Difference"], [["digits-1", "-96.32"]])
    view = qtbot.addWidget(table_view(model, "Queries"))
    assert (drawn(view, 0, 0), drawn(view, 0, 1)) == ("digits-1", "−96.32")
    assert model.index(0, 1).data(Qt.ItemDataRole.DisplayRole) == "-96.32"


def test_the_table_of_a_plot(qtbot):
    curve = Curve()
    curve.append([0], [-2.5])
    table = CurveTable(CurveNumbers("step", [("loss", curve)]))
    dialog = qtbot.addWidget(TableDialog("Loss", table))
    assert drawn(dialog.view, 0, 1) == "−2.5"
    assert table.numbers.lines()[-1] == "0\t-2.5"
    assert table.numbers.csv().endswith("0,-2.5\n")


def test_axes(qtbot):
    axes = number_axes("right")
    for side in ("left", "right"):
        assert axes[side].tickStrings([-16.0, 0.0], 1.0, 2.0) == ["−16", "0"]
