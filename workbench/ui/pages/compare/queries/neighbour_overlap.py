"""The Neighbours tab: how many neighbours of each query are the same in two groups, the largest changes first."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPixmap, QShowEvent
from PySide6.QtWidgets import QSpinBox, QWidget

from workbench.comparing.queries.overlap import NeighbourOverlap, PairOfRuns, neighbour_overlap
from workbench.jobs.newest import Newest
from workbench.numerals import percentage
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.compare.model.reading import Named
from workbench.ui.pages.compare.queries.open_buttons import OpenButtons
from workbench.ui.pages.compare.style.word_table import fit_columns, table_view
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted, percent
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.table_actions import TableActions

USUAL, MOST = 10, 100  # neighbours
MOVERS = 500  # queries in the list: those whose neighbours changed most
THUMBNAIL, AHEAD = 36, 20  # px of a picture; rows before and after a visible one whose pictures are loaded, too
TITLES = ("Query", "Class", "Same %", "Hit, baseline", "Hit, other", "Pairs n")
PLACE = "movers"
CANCELLED = "Comparing the neighbours was cancelled. Open the tab again to compare them."


class NeighbourPanel(QWidget):
    """Reads rankings on a thread once it is visible. `opened` (run, sample id) asks to show the query in that run."""

    opened = Signal(int, object)

    def __init__(self, session: Session, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._loader = session, loader
        self._paired: tuple[PairOfRuns, ...] = ()
        self._named: Named = {}
        self._reading = Newest(session)
        self._refused = False  # the newest comparison was cancelled or failed: the tab compares again when shown
        self.overlap: NeighbourOverlap | None = None
        self.k = number_box(QSpinBox(minimum=1, maximum=MOST, value=USUAL))
        self.k.setAccessibleName("Number of nearest neighbours")
        self.k.setKeyboardTracking(False)
        self.words = label("", wrap=True)
        self.model = SortedRows(TITLES, self._cells, _written, self, picture=self._picture)
        self.table = table_view(self.model, "Queries whose neighbours changed most")
        TableActions(session.fulfil, self.table, "neighbours.csv", self.model.unwritten)
        self.table.setObjectName("compare-neighbours")
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        self.table.horizontalHeader().setSortIndicator(2, Qt.SortOrder.AscendingOrder)
        self.table.setSortingEnabled(True)
        self.table.setToolTip(
            "Hit: rank of the first true neighbour. Double-click or Enter shows the query in the run of the other group"
        )
        self.openers = OpenButtons(self.table)
        head = in_row(caption("Nearest neighbours", self.k), self.k, (self.openers, 1))
        in_column(head, self.words, (self.table, 1), 0, on=self, margins=8)
        loader.ready.connect(self.model.pictures_came)
        self.k.valueChanged.connect(self.read)
        self.openers.asked.connect(self._open)
        self.say("")

    def show_pairs(self, paired: Sequence[PairOfRuns], named: Named) -> None:
        """Compare other pairs of runs; `named` has the class and path of each sample id."""
        self._paired, self._named = tuple(paired), named
        self.read()

    def say(self, text: str) -> None:
        """Show a sentence in place of the list."""
        self._reading.cancel()
        self.overlap, self._refused = None, False
        self.words.setText(text)
        self.model.show([])
        self.table.hide()
        self.openers.check()

    def read(self) -> None:
        """Compare the neighbours again, on a thread."""
        if not self._paired:
            return
        self.say("Reading neighbours…")
        workspace, paired, k = self._session.workspace, self._paired, self.k.value()

        def work(progress: Progress) -> NeighbourOverlap:
            return neighbour_overlap(workspace, paired, k, progress)

        self._reading.ask("Compare neighbours", work, self._show, self._fail, cancelled=self._tell_cancelled)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._refused:  # a file may be put back meanwhile
            self.read()

    def _show(self, overlap: NeighbourOverlap) -> None:
        self.overlap = overlap
        self.words.setText(in_sentences(overlap))
        self.model.show(range(min(MOVERS, len(overlap.sample_ids))))
        self.table.show()
        layout = self.layout()
        if layout is not None:
            layout.activate()  # gives the table its width at once
        fit_columns(self.table)
        self.openers.check()

    def _tell_cancelled(self) -> None:
        self._refuse(CANCELLED)

    def _fail(self, problem: Problem) -> None:
        self._refuse(str(problem))

    def _refuse(self, text: str) -> None:
        self.say(text)
        self._refused = True

    def _cells(self, row: int) -> tuple[Any, ...]:
        overlap = self.overlap
        assert overlap is not None  # there are rows
        class_name, path = self._named.get(int(overlap.sample_ids[row]), ("", str(overlap.sample_ids[row])))
        numbers = (overlap.first_hit[row], overlap.second_hit[row], overlap.pairs[row])
        return path, class_name, float(overlap.share[row]), *map(int, numbers)

    def _picture(self, row: int) -> QPixmap | None:
        assert self.overlap is not None  # there are rows
        sample_id = int(self.overlap.sample_ids[row])
        picture = self._loader.pixmap(sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(sample_id):
            at = self.model.rows.index(row)
            near = self.model.rows[max(0, at - AHEAD) : at + AHEAD]
            self._loader.request(PLACE, [int(self.overlap.sample_ids[query]) for query in near], THUMBNAIL)
        return picture

    def _open(self, side: int) -> None:
        row = self.model.row(self.table.currentIndex().row())
        if row is not None and self.overlap is not None:
            pair = self.overlap.paired[int(self.overlap.seen[row])]
            self.opened.emit((pair.first_run, pair.second_run)[side], int(self.overlap.sample_ids[row]))


def in_sentences(overlap: NeighbourOverlap) -> str:
    """The overlap of all queries in a sentence or two."""
    n = len(overlap.sample_ids)
    none, every = float((overlap.share == 0).mean()), float((overlap.share == 1).mean())
    listed = f" The {MOVERS:,} queries that changed most are listed." if n > MOVERS else ""
    return (
        f"Of the {overlap.k:,} nearest neighbours {percentage(overlap.mean)} are the same in both, on average over "
        f"{n:,} queries and {counted(len(overlap.paired), 'pair')} of runs. None is the same for {percentage(none)} of "
        f"the queries, and all are for {percentage(every)}. The median is "
        f"{percentage(float(np.median(overlap.share)))}."
        f"{listed}"
    )


def _written(column: int, value: Any) -> str:
    return value if isinstance(value, str) else percent(value) if column == 2 else f"{value:,}"
