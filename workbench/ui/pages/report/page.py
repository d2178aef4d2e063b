"""The Report page: choose the content, preview the pages, export them."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QStackedWidget, QWidget

from workbench.files import typed_path
from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.reports.templates import templates
from workbench.ui.pages.report.choices import FormatChoices, NumberChoices, SectionChoices
from workbench.ui.pages.report.model import ReportModel, Stored, offered_numbers, read_stored
from workbench.ui.pages.report.preview import Preview
from workbench.ui.pages.report.preview_drawing import SETTLE, PreviewDrawing
from workbench.ui.pages.report.run_dialog import RunDialog
from workbench.ui.pages.report.template_chooser import TemplateChooser
from workbench.ui.pages.report.written_files import WrittenFiles
from workbench.ui.state.background.in_order import InOrder
from workbench.ui.state.concern import Concern
from workbench.ui.state.process_work import ProcessWork
from workbench.ui.state.report_offer import ReportOffer
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import Card, EmptyHint
from workbench.ui.widgets.fields.path_line import PathLine
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.scrolled import ScrolledAcross, ScrolledPart
from workbench.workspace import Workspace
from workbench.workspace.choices.report_templates import store_choice

SIDES = (256, 232)  # px at 100% text, the columns beside the preview; the names of all sections fit into the first
FOLLOW = "Follow the list of runs again: those ticked, or those of the same data"
FOLDER = "Folder; an earlier report in it is replaced"


class ReportPage(QStackedWidget):
    """Reports the shown run, or chosen ones. Pages are drawn in another process, one request after the other."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.model = ReportModel()
        self._offer: ReportOffer | None = None  # that came before the workspace was read
        self._titles: dict[int | None, str] = {}  # that a user gave, by what is reported
        self._titled: int | None = None  # what the shown title belongs to
        self._place = ("", "")  # the folder that was proposed last: its name in the run's folder, and its path
        self._reading, self._measuring = Newest(session), Newest(session)
        self._writes = InOrder(session, "Report page")
        self._build()
        self._drawing = PreviewDrawing(session, self.preview, self._wanted, self)
        self._keep = QTimer(self, interval=SETTLE, singleShot=True)
        self._remember = QTimer(self, interval=SETTLE, singleShot=True)
        self._connect()
        self._read()
        self._show_run()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "No run to report",
            "The report of a run appears here: settings, curves, metrics, map, best and worst queries. Choose a run.",
            "Set up a run",
        )
        self.runs_word, self.left_out = label("", "caption"), label("", "warning", wrap=True)
        self.runs_button = button("Choose runs…")
        self.follow = icon_button("arrow-counter-clockwise", FOLLOW, "accent")
        self.choices = SectionChoices()
        self.templates = TemplateChooser(self.session, self.choices.template)
        self.numbers = NumberChoices()
        self.preview = Preview()
        self.formats = FormatChoices(self.session.preferences)
        self.folder = PathLine()
        self.folder.setAccessibleName("Folder for the report")
        self.browse = button("Browse…")
        self.export_button = button("Export", "export", "primary")
        self.written = WrittenFiles()
        self.content, left, right = QWidget(), Card(), Card()
        self.addWidget(self.hint)  # all in their places before they are filled: moved later, they would be styled again
        self.addWidget(ScrolledAcross(self.content))
        in_row(left, (self.preview, 1), right, on=self.content, margins=(16, 12, 16, 12), spacing=12)
        left.body.setContentsMargins(12, 12, 12, 12)
        right.body.setContentsMargins(12, 12, 12, 12)
        for above in (self.templates, self.runs_word, self.left_out):
            left.body.addWidget(above)
        left.body.addLayout(in_row((self.runs_button, 1), self.follow, spacing=4))
        left.body.addWidget(self.choices, 1)
        chosen, formats, folder = QWidget(), label("Formats", "section"), label(FOLDER, "caption", wrap=True)
        for widget in (ScrolledPart(chosen), self.export_button, self.written):
            right.body.addWidget(widget)
        in_column(self.numbers, formats, self.formats, folder, self.folder, self.browse, on=chosen, spacing=8)
        right.body.addStretch(1)
        self._sides = (left, right)
        self._fit_text()
        self.export_action = QAction("Export report", self)
        self.export_action.setShortcut(QKeySequence("Ctrl+E"))
        self.export_action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(self.export_action)

    def _connect(self) -> None:
        self._drawing.drawn.connect(self._show_sections)
        self.session.theme.changed.connect(self._fit_text)
        self.hint.pressed.connect(partial(self.session.show_page, "setup"))
        self._keep.timeout.connect(self.templates.keep)
        self._remember.timeout.connect(self._store_choice)
        self.templates.shown.connect(self._show_template)
        self.templates.shown.connect(self._remember.start)
        self.runs_button.clicked.connect(self._choose_runs)
        self.follow.clicked.connect(self._follow_ticks)
        self.choices.changed.connect(self._drawing.wish)
        self.choices.arranged.connect(self._keep.start)
        self.choices.reset.connect(self._reset)
        self.choices.pressed.connect(self._show_section)
        self.numbers.changed.connect(self._drawing.wish)
        self.numbers.changed.connect(self._remember.start)
        self.formats.changed.connect(self._check)
        self.formats.paper_changed.connect(self._drawing.wish)
        self.folder.textChanged.connect(self._check)
        self.browse.clicked.connect(self._browse)
        for field in (self.choices.title, self.choices.notes, self.folder):
            field.installEventFilter(self)
        self.export_button.clicked.connect(self.export)
        self.export_action.triggered.connect(self.export)
        self.session.run_changed.connect(self._show_run)
        self.session.evaluation_changed.connect(self._drawing.wish)
        self.session.status_changed.connect(self._drawing.wish)
        self.session.runs_changed.connect(self._count_runs)
        self.session.ticks.changed.connect(self._hear_ticks)
        self.session.leaving.connect(self._store_now)
        self.session.workspace_changed.connect(self._forget)
        self.session.report_offered.connect(self._take_offer)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._drawing.catch_up()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the key of the export to the page: on Linux, Ctrl+E in a text field goes to the end of the line."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            pressed = QKeySequence(event.keyCombination())
            if pressed == self.export_action.shortcut():
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    def _fit_text(self) -> None:
        for side, width in zip(self._sides, SIDES, strict=True):
            side.setFixedWidth(self.session.theme.side(width))

    def export(self) -> None:
        """Write the ticked formats into the folder."""
        wanted, out, formats = self._wanted(), self.folder.text().strip(), self.formats.formats()
        shown = (self.session.workspace, self.model.subject)
        if wanted is None or not formats or not out:
            return
        fields = {**wanted, "out": str(typed_path(out).absolute()), "formats": formats}
        self.model.written = []
        self._check()  # the files of an export before are not those of one that fails
        self.export_button.setEnabled(False)
        ProcessWork(
            self.session, self.session.drawing, "Export report", "write", fields,
            partial(self._exported, shown), partial(self._not_exported, self.session.here()), self._check,
        )  # fmt: skip

    def _wanted(self) -> dict[str, Any] | None:
        """What is to be reported, as the drawing process takes it; None without a run."""
        if self.session.run_id is None:
            return None
        title, notes = self.choices.title.text(), self.choices.notes.toPlainText()
        return self.model.request(self.numbers.wanted(), self.choices.sections(), title, notes, self.formats.paper())

    def _exported(self, exported: tuple[Workspace, int | None], answer: dict[str, Any]) -> None:
        files = [Path(path) for path in answer["files"]]
        if exported == (self.session.workspace, self.model.subject):
            self.session.settled.emit(self.session.here())
            self.model.written = files
        elif files:
            self.session.notify(f"The report was written: {counted(len(files), 'file')} in {files[0].parent}.")
        self._check()

    def _not_exported(self, concern: Concern, problem: Problem) -> None:
        self._check()
        self.session.notify(problem, concern)

    def _show_run(self) -> None:
        run = self.model.shown = self.session.run()
        self.setCurrentIndex(0 if run is None else 1)
        self.model.written = []
        if run is not None:
            self.folder.setText("")
            self._place = ("", "")
            self.preview.show_pages([])
        self._check()
        self._tell_runs()
        self._drawing.wish()

    def _find_place(self) -> None:
        """Propose the folder for this kind of report: one kind must not replace the files of the other."""
        name = self.templates.current().folder
        if self.model.shown is not None and name != self._place[0]:
            self._place = (name, self._place[1])
            self.model.written = []
            self._check()
            take = partial(self._take_place, self.model.shown.id, name)
            self.session.find_place(self.model.shown.id, name, take)

    def _take_place(self, run_id: int, name: str, folder: str) -> None:
        if run_id == self.session.run_id and name == self._place[0]:
            if self.folder.text() in ("", self._place[1]):  # else the user has named one
                self.folder.setText(folder)
            self._place = (name, folder)

    def _check(self) -> None:
        formats = self.formats.formats()
        missing = self.model.why_no_export(formats, self.folder.text())
        self.export_button.setText(f"Export {counted(len(formats), 'format')}" if formats else "Export")
        self.export_button.setEnabled(not missing)
        self.export_button.setToolTip(plain_tip(missing))
        self.written.show_files(self.model.written, self.model.written_text)

    def _show_sections(self, sections: dict[str, int]) -> None:
        self.model.sections = sections
        self.choices.show_pages(sections)

    def _show_section(self, key: str) -> None:
        self.preview.show_page(self.model.sections.get(key, 0))

    # Templates and runs

    def _read(self) -> None:
        """Read on a thread what the workspace keeps of the page, and show it; nothing can be changed until then."""
        workspace = self.session.workspace
        self.content.setEnabled(False)
        work, failed = (lambda progress: read_stored(workspace)), self._not_read
        self._reading.ask("Report page", work, self._take_stored, failed, quiet=True)

    def _not_read(self, problem: Problem) -> None:
        self.session.notify(problem)
        self._take_stored(Stored(templates(), "", (), None))

    def _take_stored(self, stored: Stored) -> None:
        self.templates.take(stored.templates, stored.template)
        self.model.chosen = list(stored.runs)
        if stored.numbers is not None:
            self.numbers.choose(*stored.numbers)
        self.content.setEnabled(True)
        self._show_template()
        offer, self._offer = self._offer, None
        if offer is not None:
            self._take_offer(offer)

    @property
    def ready(self) -> bool:
        """Whether what the workspace keeps of the page is shown."""
        return not self._reading.busy

    def _show_template(self) -> None:
        self.choices.show_template(self.templates.current())
        self._tell_runs()

    def _reset(self) -> None:
        self._keep.stop()
        self.templates.keep()  # the question is about the template as it is now
        self.templates.ask_reset()

    def _store_choice(self) -> None:
        """Keep what is chosen with the workspace, on a thread: a training run may be writing."""
        if self.session.workspace.read_only:
            return
        metric, at = self.numbers.wanted()
        template, runs = self.templates.current().key, list(self.model.chosen)
        chosen = {"template": template, "runs": runs, "metric": metric, "at": at}
        self._writes.write(partial(store_choice, self.session.workspace, chosen))

    def _store_now(self) -> None:
        """Store what waits for the end of edits: the workspace is about to be left."""
        for timer, store in ((self._keep, self.templates.keep), (self._remember, self._store_choice)):
            if timer.isActive():
                timer.stop()
                store()

    def _take_offer(self, offer: ReportOffer) -> None:
        """Report the runs that another page offers."""
        if not self.ready:
            self._offer = offer
            return
        self.model.chosen = list(offer.runs)
        self.numbers.choose(offer.metric, offer.at)
        self.templates.choose(offer.template)
        self._drawing.wish()
        self._remember.start()

    def _forget(self) -> None:
        """Another workspace has other runs, and other templates and choices."""
        for timer in (self._keep, self._remember):
            timer.stop()
        self._offer = None
        self.choices.title.clear()
        self._titles.clear()
        self._read()

    def _choose_runs(self) -> None:
        dialog = RunDialog(self.session.runs(), self.model.runs, self.session.catalog, self)
        dialog.finished.connect(partial(self._take_runs, dialog))
        self.session.workspace_changed.connect(dialog.reject)  # it has other runs
        dialog.open()

    def _take_runs(self, dialog: RunDialog, result: int) -> None:
        if result == QDialog.DialogCode.Accepted:
            self.model.choose(dialog.chosen)
            self._report_others()
        dialog.deleteLater()

    def _follow_ticks(self) -> None:
        self.model.follow()
        self.runs_button.setFocus()  # the button that had it is hidden now
        self._report_others()

    def _report_others(self) -> None:
        self._tell_runs()
        self._drawing.wish()
        self._remember.start()

    def _tell_runs(self) -> None:
        """Show which runs are reported, and offer their metrics and epochs."""
        self.model.many, self.model.ticked = self.templates.current().many, self.session.ticks.runs
        self._count_runs()
        self._retitle()
        self._find_place()
        for widget in (self.runs_word, self.runs_button, self.numbers):
            widget.setVisible(self.model.many)
        self.choices.title.setPlaceholderText(self.model.usual_title)
        self._measuring.cancel()
        wanted, workspace = set(self.model.runs), self.session.workspace
        if not self.model.many or not wanted:
            return
        runs = [run for run in self.session.runs() if run.id in wanted]
        work = lambda progress: offered_numbers(workspace, runs)  # noqa: E731
        self._measuring.ask("Metrics of the runs", work, self._offer_numbers, quiet=True)

    def _hear_ticks(self) -> None:
        """Compare what is ticked in the list of runs, unless runs were chosen here."""
        before = self.model.runs
        self.model.ticked = self.session.ticks.runs
        if self.model.runs != before:
            self._tell_runs()
            self._drawing.wish()

    def _retitle(self) -> None:
        """Show the title that the user gave to this run or to comparisons, not that of another report."""
        subject = self.model.subject
        if subject != self._titled:
            self._titles[self._titled], self._titled = self.choices.title.text(), subject
            self.choices.title.setText(self._titles.get(subject, ""))

    def _offer_numbers(self, names: tuple[list[str], list[int]]) -> None:
        before = self.numbers.wanted()
        self.numbers.offer(*names)
        if self.numbers.wanted() != before:
            self._drawing.wish()

    def _count_runs(self) -> None:
        self.model.known = self.session.runs()
        self.runs_word.setText(self.model.runs_text)
        self.follow.setVisible(self.model.chosen_here)
        self.left_out.setText(self.model.left_out)
        self.left_out.setVisible(bool(self.model.left_out))

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Folder for the report", self.folder.text())
        if folder:
            self.folder.setText(folder)
