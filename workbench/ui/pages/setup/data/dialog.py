"""The data dialog: a sheet of images, images per class, sizes of files, what was left out, notes, copies."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QLabel,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)  # fmt: skip

from workbench.charts import Chart, Marks
from workbench.names import numbers_in_order
from workbench.ui.pages.setup.data.near_duplicates import NearDuplicatesTab
from workbench.ui.pages.setup.data.pictures import pixmap
from workbench.ui.pages.setup.data.tables import DataTable, page_of
from workbench.ui.plots.chart_view import ChartView
from workbench.ui.style import theme
from workbench.ui.style.tab_order import order_regions
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.dialogs.save_file import file_name
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.table_actions import ShownTableButtons, TableActions

if TYPE_CHECKING:
    from workbench.datasets.inspection import Inspection

SIDE = 72  # px of an image on the sheet
BINS = 30


class DataDialog(MainButtonDialog):
    """Shows one Inspection; every table can be copied and saved. A tab is filled when it is first opened."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, title: str, inspection: "Inspection", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Data set: {title}")
        open_at(self, theme.text_px(860), theme.text_px(620))
        self.tabs = QTabWidget()
        self.tabs.setObjectName("data-tabs")
        self._fillers: dict[QWidget, Callable[[], QWidget]] = {}  # of the tabs that were not opened yet
        self._add("Images", partial(self._sheet, inspection))
        self._add(f"Classes ({len(inspection.class_names):,})", partial(self._classes, inspection))
        self._add("Files", partial(self._files, inspection))
        self._add(f"Left out ({inspection.left_out:,})", partial(self._left_out, inspection))
        self._add_if(inspection.unlike_published, "Differs from the published counts", self._differs)
        self._add_if(inspection.notes, "Notes", self._notes)
        self._add(f"Copies ({len(inspection.copies):,})", partial(self._copies, inspection))
        self.near_duplicates = NearDuplicatesTab(inspection.images)
        self.tabs.addTab(self.near_duplicates, "Near-duplicates")
        self.near_duplicates.shown.connect(self._count_near_duplicates)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self._close = buttons.button(QDialogButtonBox.StandardButton.Close)
        self._actions: dict[DataTable, TableActions] = {}  # of the tables that were shown
        self.buttons = ShownTableButtons(buttons, self._shown_actions)
        self.copy_table, self.save_table, self.copy = self.buttons.copy, self.buttons.save, self.buttons.copy_shown
        self.tabs.currentChanged.connect(self._fill)
        column = QVBoxLayout(self)
        column.addWidget(self.tabs, 1)
        column.addWidget(buttons)
        self._fill()

    def _shown_actions(self) -> TableActions | None:
        table = self.tabs.currentWidget().findChild(DataTable)
        if table is not None and table not in self._actions:
            name = f"{file_name(self.tabs.tabText(self.tabs.currentIndex()).partition(' (')[0])}.csv"
            self._actions[table] = TableActions(self.wished.emit, table, name, table.unwritten, table.csv)
        return None if table is None else self._actions[table]

    def _count_near_duplicates(self, count: int) -> None:
        self.tabs.setTabText(self.tabs.indexOf(self.near_duplicates), f"Near-duplicates ({count:,})")
        self.buttons.refresh()

    def _add(self, title: str, filler: Callable[[], QWidget]) -> int:
        """Add a tab, empty until it is opened; the place that it has."""
        page = QWidget()
        in_column(on=page)
        self._fillers[page] = filler
        return self.tabs.addTab(page, title)

    def _add_if(
        self, rows: Sequence[Sequence[object]], title: str, filler: Callable[[Sequence[Sequence[object]]], QWidget]
    ) -> None:
        """Add a tab that is hidden without rows: the place of a tab, which is remembered, is that of every data set."""
        place = self._add(f"{title} ({len(rows):,})", partial(filler, rows))
        self.tabs.setTabVisible(place, bool(rows))

    def _fill(self) -> None:
        """Make what the opened tab shows: the tables of all tabs at once would keep the window from answering."""
        page = self.tabs.currentWidget()
        filler = self._fillers.pop(page, None)
        layout = page.layout()
        if filler is not None and layout is not None:
            layout.addWidget(filler())
            order_regions([self.tabs, self.copy_table, self.save_table, self._close])  # what is made later comes last
        self.buttons.refresh()

    @staticmethod
    def _differs(rows: Sequence[Sequence[object]]) -> QWidget:
        return page_of(DataTable(["What", "Differs"], rows))

    @staticmethod
    def _notes(rows: Sequence[Sequence[object]]) -> QWidget:
        return page_of(label("No image is left out because of it.", "muted"), DataTable(["What", "Note"], rows))

    def _sheet(self, inspection: "Inspection") -> QWidget:
        inside = QWidget()
        flow = FlowLayout(inside)
        for path, class_name, image in inspection.sheet:
            picture = QLabel()
            picture.setPixmap(pixmap(image, SIDE, self.devicePixelRatioF()))
            picture.setFixedSize(SIDE, SIDE)
            picture.setToolTip(f"<qt>{_escaped(class_name)}<br>{_escaped(path)}</qt>")
            picture.setAccessibleName(f"{class_name}: {path}")
            flow.addWidget(picture)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(inside)
        side = inspection.side
        said = f"{len(inspection.sheet):,} of {inspection.images:,} images, drawn by the seed, at {side} × {side} px"
        return page_of(label(said, "muted"), area)

    def _classes(self, inspection: "Inspection") -> QWidget:
        whole = inspection.counts.sum(1)
        by_name = sorted(range(len(whole)), key=lambda row: numbers_in_order(inspection.class_names[row]))
        order = np.array(by_name, np.int64)[np.argsort(-whole[by_name], kind="stable")]
        chart = ChartView("Images per class")
        ranks = tuple(float(rank) for rank in range(1, len(order) + 1))
        bars = Marks("images", "bars", ranks, tuple(whole[order].tolist()))
        chart.wished.connect(self.wished)
        chart.show_chart(Chart("Images per class", "classes, largest first", (bars,)))
        rows = [[inspection.class_names[row], *inspection.counts[row].tolist()] for row in order]
        return page_of(chart, DataTable(["Class", *(name.capitalize() for name in inspection.halves)], rows, names=0))

    def _files(self, inspection: "Inspection") -> QWidget:
        if not len(inspection.sizes):
            return page_of(label("Sizes are read only where each image is a file of its own.", "muted"))
        chart = ChartView("Sizes of the original files")
        marks = []
        for title, sides in (("width", inspection.sizes[:, 0]), ("height", inspection.sizes[:, 1])):
            counts, edges = np.histogram(sides, BINS, range=(0, float(inspection.sizes.max())))
            middles = (edges[:-1] + edges[1:]) / 2
            marks.append(Marks(title, "bars", tuple(middles.tolist()), tuple(counts.tolist())))
        said = f"{len(inspection.sizes):,} of {inspection.images:,} files"
        chart.wished.connect(self.wished)
        chart.show_chart(Chart("Sizes of the original files", "px", tuple(marks), said))
        quantiles = np.quantile(inspection.sizes, (0, 0.5, 1), axis=0).round().astype(int)
        rows = [[f"{side}, px", *quantiles[:, at].tolist()] for at, side in enumerate(("Width", "Height"))]
        return page_of(chart, DataTable(["", "Smallest", "Median", "Largest"], rows, names=0))

    def _left_out(self, inspection: "Inspection") -> QWidget:
        if not inspection.problems:
            return page_of(label("Every image could be read, and nothing is missing.", "muted"))
        table = DataTable(["What", "Why"], inspection.problems)
        if inspection.left_out == len(inspection.problems):
            return page_of(table)
        said = f"{counted(inspection.left_out, inspection.unit)} left out. A line of the table can stand for several."
        return page_of(label(said, "muted"), table)

    def _copies(self, inspection: "Inspection") -> QWidget:
        if not inspection.copies:
            return page_of(label("No two images have the same pixels.", "muted"))
        groups = counted(len(inspection.copies), "group")
        said = f"{sum(map(len, inspection.copies)):,} images are in {groups} with the same pixels"
        shared = f"{counted(inspection.shared, 'test image')} {'has' if inspection.shared == 1 else 'have'}"
        warnings = [f"{shared} a copy in the training set"] if inspection.shared else []
        if two := inspection.of_two_classes:
            warnings.append(f"the images of {counted(two, 'group')} have different labels")
        rows = [
            [number, copy.path, copy.class_name, copy.half]
            for number, group in enumerate(inspection.copies, 1)
            for copy in group
        ]
        return page_of(
            label("; ".join([said, *warnings]) + ".", "error" if warnings else "muted", wrap=True),
            DataTable(["Group", "Image", "Class", "Split"], rows, names=1),
        )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
