"""What can be done with the runs of a sweep: their order, the settings of one, and their table."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from workbench.config import RunConfig
from workbench.files.spreadsheet import csv_cell, csv_text, pasted
from workbench.problem import Problem
from workbench.sweeps.trials import config_of, table_of
from workbench.ui.state.session import Session
from workbench.ui.sweeps.panel_model import SweepsModel
from workbench.ui.widgets.dialogs.save_file import ask_and_save, copy_text
from workbench.ui.widgets.tables.table_actions import COPY, SAVE, TABLE
from workbench.workspace.experiments.sweeps import Trial


class TrialMenu(QMenu):
    """Acts on the chosen run, without one on the best.

    Args:
        session: gets the settings, and reports what was written.
        model: gives what the panel shows now.
    """

    best_first = Signal()
    in_line = Signal()
    best_chosen = Signal()
    left = Signal()  # another page is shown

    def __init__(self, session: Session, model: Callable[[], SweepsModel], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._model = session, model
        self.order_best, self.order_line = self._action("Best first"), self._action("In the order of the queue")
        self.choose_best = self._action("Choose the best")
        self.addSeparator()
        self.set_up, self.copy_config = self._action(""), self._action("")
        self.addSeparator()
        self.copy_table, self.save_table = self._action(COPY), self._action(SAVE)
        self.order_best.triggered.connect(self.best_first)
        self.order_line.triggered.connect(self.in_line)
        self.choose_best.triggered.connect(self.best_chosen)
        self.set_up.triggered.connect(self._set_up)
        self.copy_config.triggered.connect(self._copy_config)
        self.copy_table.triggered.connect(self._copy_table)
        self.save_table.triggered.connect(self._ask_and_save)
        self.aboutToShow.connect(self.refresh)
        self.refresh()

    def _action(self, text: str) -> QAction:
        action = QAction(text, self)
        self.addAction(action)
        return action

    def refresh(self) -> None:
        """Name the run that is meant, and offer what can be done now."""
        model, trial = self._model(), self._trial()
        named = "the best run" if model.trial is None else "the chosen run"
        self.set_up.setText(f"Set up with the settings of {named}")
        self.copy_config.setText(f"Copy the config of {named}")
        for action in (self.set_up, self.copy_config):
            action.setEnabled(trial is not None)
        for action in (self.choose_best, self.order_best):
            action.setEnabled(model.best is not None)
        for action in (self.order_line, self.copy_table, self.save_table):
            action.setEnabled(model.shown is not None)

    def _trial(self) -> Trial | None:
        model = self._model()
        return model.best if model.trial is None else model.trial

    def _config(self) -> RunConfig | None:
        """The config of the run that is meant; None without one, or with a message why it has none."""
        shown, trial = self._model().shown, self._trial()
        if shown is None or trial is None:
            return None
        try:
            return config_of(shown.sweep, trial, shown.known)
        except Problem as problem:
            self._session.notify(problem)
            return None

    def _set_up(self) -> None:
        config = self._config()
        if config is not None:
            self._session.config_offered.emit(config)
            self._session.show_page("setup")
            self.left.emit()

    def _copy_config(self) -> None:
        config = self._config()
        if config is not None:
            copy_text(config.to_toml(), f"The config of “{config.name}”", self._session.fulfil)

    def _copy_table(self) -> None:
        shown = self._model().shown
        if shown is not None:
            head, rows = table_of(shown.sweep, shown.trials)
            cells = (
                [pasted(cell) if isinstance(cell, str) else _number(cell) for cell in row] for row in (head, *rows)
            )
            copy_text("\n".join("\t".join(row) for row in cells), "The table", self._session.fulfil)

    def _ask_and_save(self) -> None:
        shown = self._model().shown
        if shown is not None:
            make = partial(partial, csv_text, *table_of(shown.sweep, shown.trials))
            name, kinds = f"sweep-{shown.sweep.id}.csv", {".csv": ("CSV", make)}
            ask_and_save(self._session, self.parentWidget(), TABLE, name, kinds)


def _number(cell: object) -> str:
    return "" if cell is None else str(csv_cell(cell))
