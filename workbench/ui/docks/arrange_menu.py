"""How the list of runs is arranged: a button with a menu, remembered between starts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidgetAction

from workbench.ui.models.run_list import COLUMNS, FILTERS, GROUPINGS, ORDERS, Arrangement
from workbench.ui.preferences import Preferences
from workbench.ui.style.icons import icon
from workbench.ui.widgets.labels import label

TITLES = {"order": "Sort by", "grouping": "Group by", "filter": "Show"}
BY_SETTING = "Setting"
NONE_DIFFERS = "No setting differs between the runs"
MOST_COLUMNS = 2
AROUND = (24, 4, 12, 2)  # px around the title of a part


class ArrangeButton(QToolButton):
    """Sort, group, filter and columns of the list of runs."""

    changed = Signal(object)  # Arrangement
    settings_asked = Signal()  # the settings by which runs can be grouped: `offer_settings` answers

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        self.setIcon(icon("funnel", "muted"))
        self.setAccessibleName("Sort, group and filter runs")
        self.setToolTip("Sort, group, filter, columns")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.arrangement = self._remembered()
        menu = QMenu(self)
        self._parts: dict[tuple[str, str], QAction] = {}
        for part, choices in (("order", ORDERS), ("grouping", GROUPINGS), ("filter", FILTERS)):
            _add_title(menu, TITLES[part])
            group = QActionGroup(menu)
            group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)  # a setting may be chosen instead
            for name, (title, _) in choices.items():
                action = menu.addAction(title, partial(self._choose, part, name))
                action.setCheckable(True)
                action.setChecked(getattr(self.arrangement, part) == name)
                group.addAction(action)
                self._parts[part, name] = action
            if part == "grouping":
                self.settings = menu.addMenu(BY_SETTING)
                self.settings.aboutToShow.connect(self._ask_settings)
        _add_title(menu, "Columns")
        self._columns = {}
        for name, (title, _) in COLUMNS.items():
            action = self._columns[name] = menu.addAction(title, partial(self._choose_column, name))
            action.setCheckable(True)
        self._show_columns()
        self.setMenu(menu)

    def show_all(self) -> None:
        """Filter no run."""
        self._parts["filter", "all"].trigger()

    def name_setting(self, title: str) -> None:
        """Show the title of the setting by which the runs are grouped; empty if it is none."""
        self.settings.setTitle(f"{BY_SETTING} ({title})" if title else BY_SETTING)

    def offer_settings(self, fields: Sequence[tuple[str, str]]) -> None:
        """List the settings by which the runs can be grouped, each with its title."""
        self.settings.clear()
        for field, title in fields:
            action = self.settings.addAction(title, partial(self._choose, "grouping", field))
            action.setCheckable(True)
            action.setChecked(field == self.arrangement.grouping)
        if not fields:
            self.settings.addAction(NONE_DIFFERS).setEnabled(False)

    def _ask_settings(self) -> None:
        self.settings.clear()
        self.settings.addAction("Reading…").setEnabled(False)
        self.settings_asked.emit()

    def _remembered(self) -> Arrangement:
        first, text = Arrangement(), self._preferences.text
        order, grouping = text("runs/order", first.order), text("runs/grouping", first.grouping)
        columns = tuple(name for name in text("runs/columns", " ".join(first.columns)).split() if name in COLUMNS)
        return Arrangement(
            order if order in ORDERS else first.order,
            grouping if grouping in GROUPINGS or "." in grouping else first.grouping,
            first.filter,  # a filtered list at the start would look like the complete list
            columns[:MOST_COLUMNS],
        )

    def _choose(self, part: str, name: str) -> None:
        parts = {
            "order": self.arrangement.order,
            "grouping": self.arrangement.grouping,
            "filter": self.arrangement.filter,
        }
        parts[part] = name
        self._take(Arrangement(**parts, columns=self.arrangement.columns))
        for (kind, other), action in self._parts.items():
            action.setChecked(other == parts[kind])  # also after a second click on the chosen one, which unchecks it
        if not self.arrangement.setting:
            self.name_setting("")

    def _choose_column(self, name: str) -> None:
        """Show or hide a column; at most two are shown, so a third replaces the first."""
        chosen = [column for column in self.arrangement.columns if column != name]
        if name not in self.arrangement.columns:
            chosen = [*chosen, name][-MOST_COLUMNS:]
        self._take(replace(self.arrangement, columns=tuple(column for column in COLUMNS if column in chosen)))
        self._show_columns()

    def _show_columns(self) -> None:
        for name, action in self._columns.items():
            action.setChecked(name in self.arrangement.columns)

    def _take(self, arrangement: Arrangement) -> None:
        self.arrangement = arrangement
        self._preferences.set_text("runs/order", arrangement.order)
        self._preferences.set_text("runs/grouping", arrangement.grouping)
        self._preferences.set_text("runs/columns", " ".join(arrangement.columns))
        self.setIcon(icon("funnel", "muted" if arrangement.filter == "all" else "accent"))
        self.changed.emit(arrangement)


def _add_title(menu: QMenu, words: str) -> None:
    """Begin a part of the menu with its title: that of Qt's own sections is not drawn with this style sheet."""
    if menu.actions():
        menu.addSeparator()
    title, action = label(words, "caption"), QWidgetAction(menu)
    title.setContentsMargins(*AROUND)
    action.setText(words)
    action.setDefaultWidget(title)
    action.setEnabled(False)
    menu.addAction(action)
