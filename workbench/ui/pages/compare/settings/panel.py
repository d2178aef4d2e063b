"""The Settings tab: how the settings that differ between the ticked runs affect the metric."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QMenu, QSplitter, QStackedWidget, QWidget

from workbench.comparing import settings_space
from workbench.comparing.grouping.groups import Group, unlike_parts
from workbench.comparing.grouping.setting_titles import field_title, title_with_unit, value_title
from workbench.comparing.grouping.settings import Settings
from workbench.comparing.overview import Overview
from workbench.jobs.newest import Newest
from workbench.ui.pages.compare.settings.heat_map import HeatMapPlot
from workbench.ui.pages.compare.settings.parallel import ParallelPlot
from workbench.ui.pages.compare.style.group_styles import GroupStyle, swatch
from workbench.ui.pages.compare.style.word_table import WordTable, fit_columns, table_view
from workbench.ui.state.in_turns import InTurns
from workbench.ui.state.session import Session
from workbench.ui.sweeps.panel import show_sweeps
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.scrolled import Scrolled
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace.experiments import sweeps

NOTHING = "These runs differ in seed and fold only. Tick runs with other settings to see the effect of a setting."
NO_OTHER = "no second setting"
MOST_NAMED = 3  # groups that the note under the heat map names
IMPORTANCE = "Parameter importance: which parameter of the sweep of these runs matters."
AT_ONCE = 40  # groups; of more, table and heat map are drawn in turns of their own, the lines computed on a thread
MOST_COLUMNS = 6  # up to this many groups are columns of the table; more are its rows
TABLE_PX = 100  # minimum height of the table: its head and one or two settings
IN_RANGES = f"{{}}: {settings_space.RANGES} ranges, as there are more than {settings_space.MOST_VALUES} values."
POOLED = "Some cells average runs that also differ in other settings."


class SettingsPanel(QStackedWidget):
    """A table of the settings that differ; below it parallel coordinates of all of them and a heat map of two."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._turns = session, InTurns(session, self)
        self._finding, self._lining = Newest(session), Newest(session)
        self._sweeps: list[int] = []  # that made compared runs, the newest first
        self._overview: Overview | None = None
        self._baseline: Group | None = None
        self.model = WordTable(only_words=True)
        self.table = table_view(self.model, "Settings that differ")
        TableActions(self.wished.emit, self.table, "settings.csv")
        self.nothing = label(NOTHING, "muted", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.row, self.column = ElidedBox(), ElidedBox()
        for words, box in (("rows", self.row), ("columns", self.column)):
            box.setAccessibleName(f"Setting of the {words}")
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.activated.connect(self._draw_heat)
        self.importance = icon_button("chart-bar-horizontal", IMPORTANCE)
        self.importance.hide()
        self.importance.clicked.connect(self._ask_importance)
        boxes = (caption("Rows", self.row), self.row, caption("Columns", self.column), self.column)
        head = in_row(*boxes, 1, self.importance)
        self.heat, self.parallel = HeatMapPlot(), ParallelPlot()
        self.note = label("", "muted", wrap=True)
        above = QWidget()
        plots = QSplitter(Qt.Orientation.Horizontal)
        whole = QSplitter(Qt.Orientation.Vertical)
        plots.setObjectName("compare-plots")
        whole.setObjectName("compare-settings")
        inside = QWidget()
        self.addWidget(self.nothing)
        self.addWidget(Scrolled(inside))
        in_column(whole, on=inside, margins=8)
        for splitter, first, second in ((whole, self.table, plots), (plots, self.parallel, above)):
            splitter.setHandleWidth(8)
            splitter.setChildrenCollapsible(False)
            splitter.addWidget(first)
            splitter.addWidget(second)
        plots.setSizes([600, 400])
        whole.setSizes([200, 400])
        self.table.setMinimumHeight(TABLE_PX)
        in_column(head, (self.heat, 1), self.note, on=above)
        for plot in (self.heat, self.parallel):
            plot.wished.connect(self.wished)

    def show_overview(self, overview: Overview, shown_as: Sequence[GroupStyle], baseline: Group | None) -> None:
        """Show other groups with their styles, in the same order; the heat map is of those comparable to `baseline`."""
        self._overview, self._baseline = overview, baseline
        workspace, runs = self._session.workspace, list(overview.measured)
        self._finding.ask(
            "Sweeps", lambda progress: sweeps.of_runs(workspace, runs), self._offer_importance, quiet=True
        )
        fields = settings_space.fields(overview)
        self.setCurrentIndex(1 if fields else 0)
        if not fields:
            return
        self._fill(fields)
        fill, take = partial(self._fill_table, overview, shown_as), partial(self._draw_lines, overview, list(shown_as))
        if len(overview.groups) > AT_ONCE:
            self._lining.ask("Lines", lambda progress: settings_space.lines(overview), take, quiet=True)
            self._turns.begin(fill, self._draw_heat, long=True)
            return
        self._lining.cancel()
        self._turns.stop()
        fill()
        self._draw_heat()
        lines = settings_space.lines(overview)
        QTimer.singleShot(0, self, partial(take, lines))  # each plot is drawn in its own turn of the event loop

    def _offer_importance(self, numbers: list[int]) -> None:
        self._sweeps = numbers
        several = f" {len(numbers)} sweeps made these runs: choose one." if len(numbers) > 1 else ""
        self.importance.setToolTip(plain_tip(f"{IMPORTANCE}{several}"))
        self.importance.setVisible(bool(numbers))

    def _ask_importance(self) -> None:
        """Show the parameters of the one sweep of these runs; of several ask which."""
        if len(self._sweeps) == 1:
            self._show_importance(self._sweeps[0])
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for number in self._sweeps:
            menu.addAction(f"Sweep {number}", partial(self._show_importance, number))
        menu.popup(self.importance.mapToGlobal(QPoint(0, self.importance.height())))

    def _show_importance(self, number: int) -> None:
        """Open the Sweeps panel on the tab that says which parameter of that sweep matters."""
        panel = show_sweeps(self._session, self, number)
        panel.tabs.setCurrentWidget(panel.importance)

    def _fill_table(self, overview: Overview, shown_as: Sequence[GroupStyle]) -> None:
        """One row per setting with a column per group, or one row per group if there are many."""
        if overview is not self._overview:  # others came before its turn
            return
        known, groups = self._session.catalog, overview.groups
        titles = unlike_parts([group.title for group in groups])
        names = [title_with_unit(row.field, self._chosen(), known) for row in overview.differences]
        values = [[value_title(row.field, value, known) for value in row.values] for row in overview.differences]
        if len(groups) <= MOST_COLUMNS:
            cells = [[name, *row] for name, row in zip(names, values, strict=True)]
            self.model.show(["Setting", *titles], cells)
        else:
            cells = [[title, *(row[at] for row in values)] for at, title in enumerate(titles)]
            self.model.show(["Group", *names], cells, [swatch(style) for style in shown_as])
        fit_columns(self.table)

    def _fill(self, fields: list[str]) -> None:
        """Offer the settings that differ; the choice stays if it is among them."""
        before = [box.currentData() for box in (self.row, self.column)]
        others = [*fields, NO_OTHER]
        crossing = [field for field in fields[1:] if self._crosses(fields[0], field)]
        second = min(crossing, key=self._cells_of, default=NO_OTHER)
        for box, items, chosen, at_first in (
            (self.row, fields, before[0], fields[0]), (self.column, others, before[1], second),
        ):  # fmt: skip
            box.clear()
            for item in items:
                box.addItem(item if item == NO_OTHER else self._title(item), item)
            box.setCurrentIndex(items.index(chosen if chosen in items else at_first))

    def _crosses(self, first: str, second: str) -> bool:
        """Whether groups with one value of the first setting have several of the second."""
        values: dict[str, set[str]] = {}
        for settings in self._chosen():
            values.setdefault(str(settings.get(first)), set()).add(str(settings.get(second)))
        return any(len(of_one) > 1 for of_one in values.values())

    def _cells_of(self, field: str) -> tuple[bool, int]:
        """Whether some groups lack a setting, and its number of values: with few values a cell has more runs."""
        values = [settings.get(field) for settings in self._chosen()]
        return None in values, len(set(map(str, values)))

    def _draw_lines(self, overview: Overview, shown_as: Sequence[GroupStyle], lines: settings_space.Lines) -> None:
        if overview is self._overview:
            fields = {row.field for row in overview.differences}
            axes = tuple(self._named(axis, fields) if axis.title in fields else axis for axis in lines.axes)
            self.parallel.show_lines(replace(lines, axes=axes), shown_as)

    def _title(self, field: str) -> str:
        return field_title(field, self._chosen(), self._session.catalog)

    def _chosen(self) -> list[Settings]:
        return [] if self._overview is None else [group.settings for group in self._overview.groups]

    def _short(self, field: str) -> str:
        return self._title(field).rpartition(": ")[2]

    def _named(self, axis: settings_space.Axis, fields: Collection[str]) -> settings_space.Axis:
        """The axis of a setting, with the names that the Set up page uses; with its part where another has its name."""
        known, field = self._session.catalog, axis.title
        alone = [self._short(other) for other in fields].count(self._short(field)) == 1
        return replace(
            axis,
            title=self._short(field) if alone else self._title(field),
            words=tuple(value_title(field, word, known) for word in axis.words),
            ticks=tuple((at, value_title(field, word, known)) for at, word in axis.ticks),
        )

    def _draw_heat(self) -> None:
        overview = self._overview
        if overview is None:
            return
        row, column, known = self.row.currentData(), self.column.currentData(), self._session.catalog
        shown = settings_space.heat_map(overview, row, "" if column in (NO_OTHER, row) else column, self._baseline)
        named = replace(
            shown,
            row=self._short(row),
            column=self._short(shown.column) if shown.column else "",
            rows=tuple(value_title(row, value, known) for value in shown.rows),
            columns=tuple(value_title(shown.column, value, known) for value in shown.columns),
        )
        self.heat.show_map(named, overview.metric)
        notes = [
            *(IN_RANGES.format(self._short(field)) for field in shown.in_ranges),
            POOLED if shown.pooled else "",
            _left_out(f"they were not tested on the images of “{shown.tested_like}”", shown.left_out),
            _left_out("they did not finish training", shown.ended_early),
        ]
        self.note.setText(" ".join(filter(None, notes)))
        self.note.setVisible(any(notes))


def _left_out(why: str, titles: Sequence[str]) -> str:
    """Which groups are in no cell, and why; empty if there are none."""
    if not titles:
        return ""
    named = ", ".join(f"“{title}”" for title in titles[:MOST_NAMED])
    rest = f" and {more} more" if (more := len(titles) - MOST_NAMED) > 0 else ""
    return f"Not in the heat map, as {why}: {named}{rest}."
