"""Which evaluation of the shown run the pages show."""

from PySide6.QtWidgets import QComboBox, QWidget

from workbench.ui.session import Session


class EpochChooser(QComboBox):
    """Epochs in order. The newest is followed while the run trains; any other stays as it was chosen."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setAccessibleName("Evaluation")
        self.setToolTip("The newest is followed while the run trains")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.activated.connect(self._choose)
        session.evaluation_changed.connect(self._fill)
        session.evaluations_changed.connect(self._fill)
        session.workspace_changed.connect(self._fill)
        self._fill()

    def earlier(self) -> None:
        """Show the evaluation before."""
        self._choose(self.currentIndex() - 1)

    def later(self) -> None:
        """Show the evaluation after."""
        self._choose(self.currentIndex() + 1)

    def _fill(self) -> None:
        run_id = self._session.run_id
        found = [] if run_id is None else self._session.workspace.evaluations(run_id)
        several = len({each.distance for each in found}) > 1
        self.clear()
        for each in found:
            word = "untrained" if each.epoch == 0 else f"epoch {each.epoch}"
            self.addItem(f"{word}, {each.distance}" if several else word, each.id)
        self.setCurrentIndex(self.findData(self._session.evaluation_id))

    def _choose(self, place: int) -> None:
        if 0 <= place < self.count():
            newest = place == self.count() - 1
            self._session.show_evaluation(None if newest else self.itemData(place))
