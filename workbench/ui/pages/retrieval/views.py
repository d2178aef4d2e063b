"""The views of the Retrieval page: queries, triage, deployment, ..., each made when it is first shown."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from workbench.ui.pages.retrieval.attributes.panel import AttributesPanel
from workbench.ui.pages.retrieval.class_size.panel import SizePanel
from workbench.ui.pages.retrieval.deployment.panel import DeployPanel
from workbench.ui.pages.retrieval.model.filters import CellQueries, ClassGroup
from workbench.ui.pages.retrieval.new_images.panel import NewImagesPanel
from workbench.ui.pages.retrieval.robustness.panel import RobustnessPanel
from workbench.ui.pages.retrieval.triage.panel import TriagePanel
from workbench.ui.state.session import Session


class RetrievalViews(QTabWidget):
    """A tab for each view.

    Args:
        queries: the view that exists from the start.
    """

    queries_asked = Signal(str)  # by a method of search, which is shown beside plain neighbours
    group_chosen = Signal(object)  # ClassGroup: the queries of classes of one size are to be listed
    cell_chosen = Signal(object)  # CellQueries: those of a cell of an attribute's matrix are to be listed
    classes_asked = Signal()  # the bars of the classes are to be shown beside the queries
    tags_asked = Signal()  # a table of tags is to be imported

    def __init__(self, session: Session, queries: QWidget) -> None:
        super().__init__()
        self._session = session
        self.setObjectName("retrieval-views")
        self.setDocumentMode(True)
        self.tabBar().setAccessibleName("Views of the evaluation")
        self.addTab(queries, "Queries")
        self._makers: dict[int, Callable[[QWidget], QWidget]] = {}  # of the views, in the place that they are given
        self._places: dict[int, tuple[QWidget, QVBoxLayout]] = {}
        self._made: dict[int, QWidget] = {0: queries}
        self._add("Label triage", partial(TriagePanel, session), "Suspected label errors, near-copies, unclear images")
        self._add(
            "Deployment",
            self._deployment,
            "Quality, size and search time of compressed embeddings and of search methods, and the accuracy on "
            "new classes",
        )
        self._add(
            "Robustness", partial(RobustnessPanel, session), "Scores when query images are blurred, darkened, rotated…"
        )
        self._add("Class size", self._class_size, "Scores of rare and frequent classes, with intervals and chance")
        self._add(
            "Attributes",
            self._attributes,
            "Scores across the values of an attribute: from one camera, view or domain to another",
        )
        self._add(
            "New images", partial(NewImagesPanel, session), "Classes suggested for images without labels, or none"
        )
        self.currentChanged.connect(self.make)

    def make(self, index: int) -> QWidget:
        """The view of a tab, made now if it does not exist yet."""
        if index not in self._made:
            place, column = self._places[index]
            self._made[index] = self._makers[index](place)  # one that came there later is styled again
            column.addWidget(self._made[index])
            self._session.part_made.emit(self._made[index])
        return self._made[index]

    def _deployment(self, place: QWidget) -> QWidget:
        panel = DeployPanel(self._session, place)
        panel.queries_asked.connect(self.queries_asked)
        return panel

    def _class_size(self, place: QWidget) -> QWidget:
        panel = SizePanel(self._session, place)
        panel.chosen.connect(self.group_chosen)
        panel.classes_asked.connect(self.classes_asked)
        panel.queries_asked.connect(partial(self.setCurrentIndex, 0))
        return panel

    def _attributes(self, place: QWidget) -> QWidget:
        panel = AttributesPanel(self._session, place)
        panel.chosen.connect(self.cell_chosen)
        panel.table_asked.connect(self.tags_asked)
        panel.queries_asked.connect(partial(self.setCurrentIndex, 0))
        return panel

    def mark_listed(self, group: ClassGroup | None, cell: CellQueries | None) -> None:
        """Mark the group of classes and the cell whose queries are listed, in Class size and Attributes."""
        for view in self._made.values():
            if isinstance(view, SizePanel):
                view.mark(group)
            elif isinstance(view, AttributesPanel):
                view.mark(cell)

    def _add(self, title: str, maker: Callable[[QWidget], QWidget], tip: str) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        index = self.addTab(holder, title)
        self.setTabToolTip(index, tip)
        self._makers[index], self._places[index] = maker, (holder, column)
