"""Which evaluation of the shown run the whole window shows."""

from PySide6.QtWidgets import QComboBox, QWidget

from workbench.problem import Problem
from workbench.ui.session import Session

BEST = "★ best"


class EpochChooser(QComboBox):
    """Epochs in order, the best marked. The best is followed while the run trains; any other stays as chosen."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setAccessibleName("Evaluation")
        self.setToolTip("The evaluation that every page shows; the best is followed while the run trains")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.activated.connect(self._choose)
        session.evaluation_changed.connect(self._fill)
        session.evaluations_changed.connect(self._fill)
        session.workspace_changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        self.clear()
        try:
            run = self._session.run()
            found = [] if run is None else self._session.workspace.evaluations(run.id)
            best = None if run is None else self._session.workspace.run(run.id).best_epoch
        except Problem:  # deleted by another program
            found, best = [], None
        several = len({each.distance for each in found}) > 1
        for each in found:
            word = "untrained" if each.epoch == 0 else f"epoch {each.epoch}"
            word = f"{word}, {each.distance}" if several else word
            self.addItem(f"{BEST}, {word}" if each.epoch == best else word, each.id)
        self.setCurrentIndex(self.findData(self._session.evaluation_id))
        self.setVisible(bool(found))

    def _choose(self, place: int) -> None:
        self._session.show_evaluation(self.itemData(place))
