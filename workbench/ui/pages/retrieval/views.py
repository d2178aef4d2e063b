"""The views of the Retrieval page: queries, label triage and deployment, each made when it is first shown."""

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from workbench.ui.pages.retrieval.deploy_panel import DeployPanel
from workbench.ui.pages.retrieval.triage_panel import TriagePanel
from workbench.ui.session import Session


class RetrievalViews(QTabWidget):
    """A tab for each view.

    Args:
        queries: the view that is there from the start.
    """

    def __init__(self, session: Session, queries: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.tabBar().setAccessibleName("Views of the evaluation")
        self.addTab(queries, "Queries")
        self._makers: dict[int, Callable[[], QWidget]] = {}
        self._add("Label triage", partial(TriagePanel, session), "Suspected label errors, near-copies, unclear images")
        self._add("Deployment", partial(DeployPanel, session), "What this model costs and keeps, stored smaller")
        self.currentChanged.connect(self.make)

    def make(self, index: int) -> QWidget:
        """The view of a tab, made now if it is not there yet."""
        holder = self.widget(index)
        if index in self._makers:
            column = holder.layout()
            assert column is not None
            column.addWidget(self._makers.pop(index)())
        layout = holder.layout()
        item = layout.itemAt(0) if index and layout is not None else None
        made = item.widget() if item is not None else None
        return holder if made is None else made

    def _add(self, title: str, maker: Callable[[], QWidget], tip: str) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        index = self.addTab(holder, title)
        self.setTabToolTip(index, tip)
        self._makers[index] = maker
