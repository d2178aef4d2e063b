"""The look that tables of whole rows share."""

from PySide6.QtWidgets import QTableView


def select_rows(table: QTableView, name: str) -> None:
    """Let one whole row be selected, without a grid, row numbers, wrapped text or Tab moving between cells.

    Args:
        name: what a screen reader says.
    """
    table.setAccessibleName(name)
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    table.setWordWrap(False)
    table.setShowGrid(False)
    table.verticalHeader().hide()
