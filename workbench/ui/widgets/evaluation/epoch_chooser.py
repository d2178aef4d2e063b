"""Which evaluation of the shown run the whole window shows."""

from PySide6.QtWidgets import QComboBox

from workbench.ui.state.session import Session

BEST = "★ best"


class EpochChooser(QComboBox):
    """Epochs in order, the best marked. The best is followed while the run trains; any other stays as chosen."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._wanted = True
        self.setAccessibleName("Evaluation")
        self.setToolTip("The evaluation that is shown; the best is followed while the run trains")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.activated.connect(self._choose)
        session.evaluation_changed.connect(self._fill)
        session.evaluations_changed.connect(self._fill)
        session.workspace_changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        self.clear()
        run, evaluations = self._session.run(), self._session.evaluations()
        several = len({evaluation.distance for evaluation in evaluations}) > 1
        for evaluation in evaluations:
            word = "untrained" if evaluation.epoch == 0 else f"epoch {evaluation.epoch}"
            word = f"{word}, {evaluation.distance}" if several else word
            best = run is not None and evaluation.epoch == run.best_epoch
            self.addItem(f"{BEST}, {word}" if best else word, evaluation.id)
        self.setCurrentIndex(self.findData(self._session.evaluation_id))
        self._show_if_wanted()

    def set_wanted(self, wanted: bool) -> None:
        """Hide where no evaluation is shown; else it is visible once there is one."""
        self._wanted = wanted
        self._show_if_wanted()

    def _show_if_wanted(self) -> None:
        self.setVisible(self._wanted and self.count() > 0)

    def _choose(self, index: int) -> None:
        self._session.show_evaluation(self.itemData(index))
