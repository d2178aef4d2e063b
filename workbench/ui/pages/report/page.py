"""The Report page: choose what is said, see the pages, export them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication, QImage, QKeySequence, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QScrollArea, QStackedWidget, QWidget

from workbench import reports
from workbench.problem import Problem
from workbench.ui.pages.report.choices import SectionChoices
from workbench.ui.pages.report.export_card import ExportCard
from workbench.ui.pages.report.preview import Preview
from workbench.ui.session import Session
from workbench.ui.tasks import Progress, Task
from workbench.ui.widgets.card import Card, EmptyHint

SETTLE = 500  # ms without a change before the preview is drawn anew
SIDE = 224  # px, the columns beside the preview
A4_INCHES = 8.27  # width
FINER = 2  # times the pixels of the screen: small letters are drawn well only when there is room


@dataclass(frozen=True, slots=True)
class Wish:
    """Everything that the preview depends on: an equal wish needs no drawing."""

    run_id: int
    state: str  # of the run
    evaluation: int | None  # the newest
    sections: tuple[str, ...]
    title: str
    notes: str
    width: int  # px of a page


class _Told(QObject):
    """Brings what a working thread says onto the window's thread; the number tells old work from new."""

    page = Signal(int, int, int, QImage)  # number, page from 0, pages, the page
    progress = Signal(int, str, int, int)  # number, text, done, total


class ReportPage(QStackedWidget):
    """Reports the shown run. Pages are drawn off the window's thread; the newest wish wins."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._told = _Told()
        self._number = 0  # of the newest preview
        self._drawing: Task | None = None
        self._exporting: Task | None = None
        self._shown: Wish | None = None
        self._run_id: int | None = None
        self._draft_of = session.workspace.path
        self._drafts: dict[tuple[Path, int], tuple[str, str]] = {}  # title and notes by run: they never mix
        self._written: list[Path] = []
        self._build()
        self._timer = QTimer(self, interval=SETTLE, singleShot=True)
        self._connect()
        self._show_run()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "No run to report",
            "The report of a run stands here: settings, curves, metrics, map, best and worst queries. Choose a run.",
            "Set up a run",
        )
        self.choices = SectionChoices()
        self.preview = Preview()
        self.export_card = ExportCard()
        self.formats, self.folder = self.export_card.boxes, self.export_card.folder
        self.export_button = self.export_card.export_button
        left, right = Card(), QScrollArea()
        left.body.addWidget(self.choices)
        left.setFixedWidth(SIDE)
        right.setWidget(self.export_card)
        right.setWidgetResizable(True)
        right.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        right.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        right.setFixedWidth(SIDE)
        content = QWidget()
        row = QHBoxLayout(content)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(12)
        row.addWidget(left)
        row.addWidget(self.preview, 1)
        row.addWidget(right)
        self.export_action = QAction("Export report", self)
        self.export_action.setShortcut(QKeySequence("Ctrl+E"))
        self.export_action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(self.export_action)
        self.addWidget(self.hint)
        self.addWidget(content)

    def _connect(self) -> None:
        card = self.export_card
        self._timer.timeout.connect(self._draw)
        self._told.page.connect(self._page_drawn)
        self._told.progress.connect(self._export_progressed)
        self.hint.pressed.connect(self._go_to_setup)
        for signal in (self.choices.changed, card.changed, self.preview.width_changed):
            signal.connect(self._wish)
        card.export_asked.connect(self.export)
        card.cancel_asked.connect(self._cancel_export)
        card.browse_asked.connect(self._browse)
        card.open_file.clicked.connect(self._open_file)
        card.open_folder.clicked.connect(self._open_folder)
        card.copy_path.clicked.connect(self._copy_path)
        self.export_action.triggered.connect(self.export)
        self.session.run_changed.connect(self._show_run)
        self.session.evaluations_changed.connect(self._wish)
        self.session.status_changed.connect(self._wish)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start(0)

    # The run

    def _show_run(self) -> None:
        self._keep_draft()
        run = self.session.run()
        self._run_id = None if run is None else run.id
        self.setCurrentIndex(0 if run is None else 1)
        self._shown, self._written = None, []
        self._number += 1  # pages of the run before are not shown any more
        self.preview.clear()
        if self._exporting is None:
            self.export_card.show_nothing()
        if run is not None:
            title, notes = self._drafts.get((self.session.workspace.path, run.id), ("", ""))
            self.export_card.title.setText(title)
            self.export_card.title.setPlaceholderText(run.name)
            self.choices.notes.setPlainText(notes)
            self.folder.setText(str(self.session.workspace.folder(run.id) / "report"))
        self._wish()

    def _keep_draft(self) -> None:
        if self._run_id is not None:
            _, title, notes = self._wanted()
            self._drafts[self._draft_of, self._run_id] = (title, notes)
        self._draft_of = self.session.workspace.path

    def _wanted(self) -> tuple[tuple[str, ...], str, str]:
        return tuple(self.choices.sections()), self.export_card.title.text().strip(), self.choices.own_text()

    # Preview

    def _wish(self) -> None:
        if self.isVisible():
            self._timer.start(SETTLE)

    def _wished(self) -> Wish | None:
        run = self.session.run()
        if run is None:
            return None
        evaluations = self.session.workspace.evaluations(run.id)
        newest = evaluations[-1].id if evaluations else None
        return Wish(run.id, run.status, newest, *self._wanted(), self.preview.page_width)

    def _draw(self) -> None:
        wish = self._wished()
        if wish is None or wish == self._shown or not self.isVisible():
            return
        self._shown = wish
        if self._drawing is not None:
            self._drawing.cancel()
        self._number += 1
        number, workspace, told = self._number, self.session.workspace, self._told
        dpi = FINER * wish.width / A4_INCHES

        def work(progress: Progress) -> None:
            def painted(place: int, pages: int, image: np.ndarray) -> None:
                told.page.emit(number, place, pages, _shrunk(image, wish.width))

            sections, title, notes = wish.sections, wish.title, wish.notes
            reports.preview_pages(
                workspace, wish.run_id, sections, title, notes, dpi=dpi, progress=progress, each=painted
            )

        self.preview.say("Drawing the pages…")
        self._drawing = self.session.run_in_thread("Report preview", work, self._drawn, self._not_drawn)
        self._drawing.ended.connect(self._drawing_ended)

    def _page_drawn(self, number: int, place: int, pages: int, image: QImage) -> None:
        if number == self._number:
            self.preview.show_page(place, pages, image)
            self.preview.say(f"Drawn {place + 1} of {pages} pages…")

    def _drawing_ended(self, task: Task) -> None:
        if task is self._drawing:
            self._drawing = None
            self.preview.say("The preview was stopped.")  # as it stays when it was cancelled

    def _drawn(self, _: object) -> None:
        self.preview.say(f"{self.preview.count} A4 pages")

    def _not_drawn(self, problem: Problem) -> None:
        self.preview.clear()
        self.preview.say(str(problem))

    # Export

    def export(self) -> None:
        """Write the ticked formats into the folder, off the window's thread."""
        run_id, out, card = self.session.run_id, self.export_card.out(), self.export_card
        if run_id is None or out is None or card.obstacle():
            return
        formats, wanted, workspace, told = card.formats(), self._wanted(), self.session.workspace, self._told

        def work(progress: Progress) -> list[Path]:
            def say(text: str, done: int, total: int) -> None:
                progress(text, done, total)
                told.progress.emit(run_id, text, done, total)

            return reports.write_report(workspace, run_id, out, formats, *wanted, progress=say)

        def then(written: list[Path]) -> None:
            self._exported(run_id, written)

        card.show_running("Starting", 0, 0)
        self._written = []
        self._exporting = self.session.run_in_thread("Export report", work, then, self._not_exported)
        self._exporting.ended.connect(self._export_ended)

    def _export_ended(self, task: Task) -> None:
        if task is self._exporting:
            self._exporting = None
            self.export_card.show_nothing()  # as it stays when it was cancelled

    def _export_progressed(self, run_id: int, text: str, done: int, total: int) -> None:
        if self._exporting is not None:
            self.export_card.show_running(text, done, total)

    def _cancel_export(self) -> None:
        if self._exporting is not None:
            self._exporting.cancel()

    def _exported(self, run_id: int, written: list[Path]) -> None:
        if run_id == self.session.run_id:
            self._written = written
            self.export_card.show_done(written)

    def _not_exported(self, problem: Problem) -> None:
        self.session.notify(problem)

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self, "Folder for the report", self.folder.text())
        if found:
            self.folder.setText(found)

    def _open_file(self) -> None:
        self._open(self._written[0])

    def _open_folder(self) -> None:
        self._open(self._written[0].parent)

    def _open(self, path: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.absolute()))):
            self.session.notify(f"No program of this machine opens {path}.")

    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(str(self._written[0]))

    def _go_to_setup(self) -> None:
        self.session.show_page("setup")


def _shrunk(page: np.ndarray, width: int) -> QImage:
    """A painted page, uint8 [h, w, 4], at its width on the screen."""
    high, wide = page.shape[:2]
    image = QImage(page.data, wide, high, 4 * wide, QImage.Format.Format_RGBA8888)
    return image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
