"""What is drawn beside the shown geometry: the other images of the same run, or another run."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.geometry_watch import Images, Watched, watch
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.workspace.rows import Run

NOTHING, UNCAPTIONED = "nothing", "Beside…"  # of no choice, beside its caption and without it
OWN = 0  # in place of a run's number: the other images of the shown run
NAMES: dict[Images, str] = {"test": "test", "probe": "probe"}  # short: they stand in legends
LETTERS, FEW = 14, 8  # of what is chosen that have room, and where the page is narrow


class BesideChooser(QWidget):
    """Offers the other images of the shown run and other evaluated runs on the same images, and reads what is chosen.

    A run that is still offered stays chosen when another one is shown.
    """

    changed = Signal()  # another geometry is there, or none

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.watched: Watched | None = None
        self._run: Run | None = None  # as it was when its geometry was asked for
        self._wanted = False
        self._images: Images = "test"
        self._nothing = NOTHING
        self._offered: list[tuple[str, int | None]] = [(NOTHING, None)]
        self._reading = Newest(session)
        self.box = ElidedBox()
        self.box.setAccessibleName("Beside the shown geometry")
        self.box.setToolTip(
            "Draw the effective rank, uniformity and alignment of this run's other images, or of another run of this "
            "data set, dashed"
        )
        self.box.setMinimumContentsLength(LETTERS)
        self.box.addItem(NOTHING, None)
        self._caption = caption("Beside", self.box)
        in_row(self._caption, self.box, on=self, spacing=8)
        self.box.activated.connect(self._choose)
        session.run_changed.connect(self._fill)
        session.runs_changed.connect(self._fill)
        session.workspace_changed.connect(self._fill)
        self.hide()

    @property
    def title(self) -> str:
        """What the lines of the chosen geometry are called."""
        if self._run is None:
            return ""
        return NAMES[self._wanted_images] if self.box.currentData() == OWN else f"#{self._run.id}"

    @property
    def _wanted_images(self) -> Images:
        """Whose embeddings are read: those that are shown, of another run; of the same one the other images."""
        others: Images = "test" if self._images == "probe" else "probe"
        return others if self.box.currentData() == OWN else self._images

    def fit(self, roomy: bool) -> None:
        """Leave the tabs their room where there is little."""
        self._caption.setVisible(roomy)
        self._nothing = NOTHING if roomy else UNCAPTIONED
        self.box.setItemText(0, self._nothing)
        self.box.setMinimumContentsLength(LETTERS if roomy else FEW)

    def set_images(self, images: Images) -> None:
        """These images are shown."""
        self._images = images
        self._forget()
        self._fill()

    def set_wanted(self, wanted: bool) -> None:
        """Show it while the tab is shown."""
        self._wanted = wanted
        self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._choose()

    def _fill(self, _run_id: object = None) -> None:
        if self._wanted:
            self._offer()
        self.setVisible(self._wanted)
        self._choose()

    def _offer(self) -> None:
        shown, chosen = self._session.run(), self.box.currentData()
        others = [
            run for run in self._session.runs()
            if shown is not None and run.images and run.images == shown.images
            and run.last and run.id != shown.id
        ]  # fmt: skip
        own = "its test set" if self._images == "probe" else "its probe"
        offered = [(NOTHING, None), (own, OWN), *((f"#{run.id} {run.name}", run.id) for run in others)]
        if offered != self._offered:
            self._offered = offered
            self.box.clear()
            for title, number in offered:
                self.box.addItem(title, number)
            self.box.setItemText(0, self._nothing)
            self.box.setCurrentIndex(max(0, self.box.findData(chosen)))

    def _choose(self, _row: int = 0) -> None:
        """Read the chosen run, unless it was read and has no evaluation since."""
        number = self._session.run_id if self.box.currentData() == OWN else self.box.currentData()
        run = None if number is None else self._session.run(number)
        if run is None:
            self._forget()
        elif self.isVisible() and (self._run is None or (run.id, run.last) != (self._run.id, self._run.last)):
            if self._run is None or run.id != self._run.id:
                self._forget()
            self._run, workspace, images = run, self._session.workspace, self._wanted_images

            def work(progress: Progress) -> Watched:
                return watch(workspace, run.id, progress, images)

            self._reading.ask(f"Geometry of run {run.id}", work, self._show, self._fail)

    def _forget(self) -> None:
        self._reading.cancel()
        self._run = None
        if self.watched is not None:
            self.watched = None
            self.changed.emit()

    def _show(self, watched: Watched) -> None:
        self.watched = watched
        self.changed.emit()

    def _fail(self, problem: Problem) -> None:
        self.box.setCurrentIndex(0)
        self._forget()
        self._session.notify(problem)
