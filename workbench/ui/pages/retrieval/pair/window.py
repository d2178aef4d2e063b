"""The window of a pair, made when it is first asked for."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.ui.pages.retrieval.pair.dialog import PairDialog
from workbench.ui.pages.retrieval.pair.model import PairModel, Ranking
from workbench.ui.state.session import Session
from workbench.ui.widgets.images.pictures import PictureLoader


class PairWindow(QObject):
    """The model of the pair and its dialog, in front of the part of the window that opens it."""

    def __init__(self, session: Session, owner: QWidget) -> None:
        super().__init__(owner)
        self._session, self._owner = session, owner
        self.model = PairModel(session, self._draw)
        self.dialog: PairDialog | None = None
        session.workspace_changed.connect(self.model.forget)

    @property
    def is_open(self) -> bool:
        """Whether a pair is on screen."""
        return self.dialog is not None and self.dialog.isVisible()

    def open(self, ranking: Ranking, sample_id: int | None = None) -> None:
        """Show a query beside a neighbour, by default the first."""
        if self.dialog is None:
            self.dialog = PairDialog(self.model, PictureLoader(self._session, self._dataset, self), self._owner)
            self.dialog.wished.connect(self._session.fulfil)
            self._session.part_made.emit(self.dialog)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
        self.model.show(ranking, sample_id)

    def follow(self, ranking: Ranking | None) -> None:
        """In an open window, show another query beside its first neighbour, or the same pair of the same query."""
        if not self.is_open:
            return
        before, near = self.model.ranking, self.model.neighbour
        same = ranking is not None and before is not None and ranking.query == before.query
        self.model.show(ranking, near.sample_id if same and near is not None else None)

    def _dataset(self) -> int | None:
        """The data set of the pair: it stays that of its run when the main window shows another one."""
        run, ranking = self._session.run(), self.model.ranking
        if ranking is not None and ranking.dataset is not None:
            return ranking.dataset
        return None if run is None else run.dataset_id

    def _draw(self) -> None:
        if self.dialog is not None:
            self.dialog.draw()
