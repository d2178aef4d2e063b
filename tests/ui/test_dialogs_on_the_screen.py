"""Dialogs with text at 150% open within a small screen: that of the tests has 800 x 800 px."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from trained import trained_run

from workbench.datasets.inspection import Inspection
from workbench.entries import catalog
from workbench.settings.changed import read_config
from workbench.ui.actions.exchange.export_dialog import ExportDialog
from workbench.ui.actions.exchange.import_dialog import ImportDialog
from workbench.ui.pages.map.side.class_table import ClassTableDialog
from workbench.ui.pages.setup.data.dialog import DataDialog
from workbench.ui.places.dialog import PlacesDialog
from workbench.ui.plots.table import CurveNumbers, CurveTable, TableDialog
from workbench.ui.sweeps.dialog import SweepDialog
from workbench.ui.sweeps.panel import SweepsPanel
from workbench.ui.widgets.dialogs.first_size import SPARE, open_at
from workbench.ui.window.commands.command_palette import CommandPalette
from workbench.ui.window.commands.shortcuts_dialog import ShortcutsDialog
from workbench.ui.window.main_window import MainWindow

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", extend=True)
TABLES = {
    "classes of the map": ClassTableDialog,
    "numbers of a plot": lambda: TableDialog("Loss", CurveTable(CurveNumbers("step", []))),
    "data": lambda: DataDialog(
        "mine", Inspection(0, 4, ("train",), np.zeros((0, 1), int), [], [], np.empty((0, 2)), [], [], [])
    ),
}
ON_A_SESSION = (ImportDialog, PlacesDialog, SweepsPanel)


@pytest.fixture
def fits(qtbot):
    """`fits(dialog)`: whether the dialog, once shown, is within its screen."""

    def shown_within(dialog):
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.shown(dialog)
        room = dialog.screen().availableGeometry()
        return dialog.width() <= room.width() and dialog.height() <= room.height()

    return shown_within


@pytest.mark.parametrize("kind", ON_A_SESSION, ids=[kind.__name__ for kind in ON_A_SESSION])
def test_a_dialog_of_the_workspace_fits(large, fits, kind):
    assert fits(kind(large))


def test_the_export_of_a_run_fits(large, fits, workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache")
    run = next(run for run in workspace.runs() if run.id == run_id)
    assert fits(ExportDialog(large, run))


def test_the_sweep_fits(large, fits):
    large.set_catalog(catalog.current())
    assert fits(SweepDialog(large, read_config("sample-digits")))


@pytest.mark.parametrize("kind", [ShortcutsDialog, CommandPalette], ids=["shortcuts", "palette"])
def test_a_dialog_of_the_commands_fits(large, fits, qtbot, kind):
    window = qtbot.addWidget(MainWindow(large))
    assert fits(kind(window.commands, window))


def test_a_dialog_keeps_its_size_where_the_screen_has_room(fits, large):
    panel = SweepsPanel(large)
    open_at(panel, 640, 500)
    assert (panel.width(), panel.height()) == (640, 500)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_room_for_as_much_of_larger_text(session, fits, name):
    before = TABLES[name]()
    assert fits(before)
    session.theme.set_text_size(150)
    try:
        larger = TABLES[name]()
        assert fits(larger)
    finally:
        session.theme.set_text_size(100)
    assert larger.height() > before.height()
    assert larger.width() > before.width() or before.width() == larger.screen().availableGeometry().width() - SPARE
