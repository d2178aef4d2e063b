"""The Neighbours tab: how many neighbours two groups have in common for each query, the largest movers first."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from workbench.comparing.overlap import NeighbourOverlap, PairOfRuns, neighbour_overlap
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.newest import Newest
from workbench.ui.pages.compare.model import Named
from workbench.ui.pages.compare.tables import fit_columns, table_view
from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.captions import caption
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.pictures import PictureLoader
from workbench.ui.words import percent

USUAL, MOST = 10, 100  # neighbours
MOVERS = 500  # queries listed: the largest movers
THUMBNAIL, AHEAD = 36, 20  # px; rows around a visible one whose pictures are loaded with it
TITLES = ("Query", "Class", "Same %", "Hit, baseline", "Hit, other", "Pairs n")
PLACE = "movers"


class NeighbourPanel(QWidget):
    """Reads rankings on a thread when it becomes visible. `opened` (run, sample id) asks to show the query there."""

    opened = Signal(int, object)

    def __init__(self, session: Session, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._loader = session, loader
        self._paired: tuple[PairOfRuns, ...] = ()
        self._named: Named = {}
        self._reading = Newest(session, self)
        self.found: NeighbourOverlap | None = None
        self.k = QSpinBox(minimum=1, maximum=MOST, value=USUAL)
        self.k.setAccessibleName("Number of nearest neighbours")
        self.k.setKeyboardTracking(False)
        self.told = label("", wrap=True)
        self.model = SortedRows(TITLES, self._cells, _written, self, picture=self._picture)
        self.table = table_view(self.model, "Queries whose neighbours changed most")
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        self.table.horizontalHeader().setSortIndicator(2, Qt.SortOrder.AscendingOrder)
        self.table.setSortingEnabled(True)
        self.table.setToolTip(
            "Hit: rank of the first true neighbour. Double-click shows the query in the run of the other group"
        )
        self.buttons = [button("Show in the baseline", kind="quiet"), button("Show in the other", kind="quiet")]
        head = QHBoxLayout()
        head.addWidget(caption("Nearest neighbours", self.k))
        head.addWidget(self.k)
        head.addStretch(1)
        for show_button in self.buttons:
            head.addWidget(show_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addLayout(head)
        column.addWidget(self.told)
        column.addWidget(self.table, 1)
        column.addStretch(0)
        loader.ready.connect(self.model.pictures_came)
        self.k.valueChanged.connect(self.read)
        self.table.activated.connect(self._open_second)
        self.buttons[0].clicked.connect(self._open_first)
        self.buttons[1].clicked.connect(self._open_second)
        self.table.selectionModel().currentChanged.connect(self._check)
        self.say("")

    def show_pairs(self, paired: Sequence[PairOfRuns], named: Named) -> None:
        """Take other pairs of runs; `named` holds class and path of each sample id."""
        self._paired, self._named = tuple(paired), named
        self.read()

    def say(self, text: str) -> None:
        """Show a sentence in place of the list."""
        self._reading.cancel()
        self.found = None
        self.told.setText(text)
        self.model.show([])
        self.table.hide()
        self._check()

    def read(self) -> None:
        """Compare the neighbours again, on a thread."""
        if not self._paired:
            return
        self.say("Reading neighbours…")
        workspace, paired, k = self._session.workspace, self._paired, self.k.value()

        def work(progress: Progress) -> NeighbourOverlap:
            return neighbour_overlap(workspace, paired, k, progress)

        self._reading.ask("Compare neighbours", work, self._show, self._fail)

    def _show(self, overlap: NeighbourOverlap) -> None:
        self.found = overlap
        self.told.setText(told(overlap))
        self.model.show(range(min(MOVERS, len(overlap.sample_ids))))
        self.table.show()
        layout = self.layout()
        if layout is not None:
            layout.activate()  # the table has its width now, not in a moment
        fit_columns(self.table)
        self._check()

    def _fail(self, problem: Problem) -> None:
        self.say(str(problem))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        fit_columns(self.table)

    def _cells(self, row: int) -> tuple[Any, ...]:
        assert self.found is not None  # there are rows
        overlap = self.found
        class_name, path = self._named.get(int(overlap.sample_ids[row]), ("", str(overlap.sample_ids[row])))
        numbers = (overlap.first_hit[row], overlap.second_hit[row], overlap.pairs[row])
        return path, class_name, float(overlap.share[row]), *map(int, numbers)

    def _picture(self, row: int) -> QPixmap | None:
        assert self.found is not None  # there are rows
        sample_id = int(self.found.sample_ids[row])
        picture = self._loader.pixmap(sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(sample_id):
            at = self.model.rows.index(row)
            near = self.model.rows[max(0, at - AHEAD) : at + AHEAD]
            self._loader.request(PLACE, [int(self.found.sample_ids[query]) for query in near], THUMBNAIL)
        return picture

    def _check(self) -> None:
        for show_button in self.buttons:
            show_button.setEnabled(self.table.currentIndex().isValid() and not self.table.isHidden())

    def _open_first(self) -> None:
        self._open(0)

    def _open_second(self) -> None:
        self._open(1)

    def _open(self, side: int) -> None:
        row = self.model.row(self.table.currentIndex().row())
        if row is not None and self.found is not None:
            pair = self.found.paired[int(self.found.seen[row])]
            self.opened.emit((pair.first_run, pair.second_run)[side], int(self.found.sample_ids[row]))


def told(found: NeighbourOverlap) -> str:
    """The overlap of all queries in a sentence or two."""
    n, pairs = len(found.sample_ids), len(found.paired)
    none, every = float((found.share == 0).mean()), float((found.share == 1).mean())
    listed = f" The {MOVERS:,} largest movers are listed." if n > MOVERS else ""
    return (
        f"Of the {found.k:,} nearest neighbours {percent(found.mean)} % are the same in both, on average over {n:,} "
        f"queries and {pairs:,} {'pair' if pairs == 1 else 'pairs'} of runs; none for {percent(none)} % of the "
        f"queries, all for {percent(every)} %. Median {percent(float(np.median(found.share)))} %.{listed}"
    )


def _written(column: int, value: Any) -> str:
    return value if isinstance(value, str) else percent(value) if column == 2 else f"{value:,}"
