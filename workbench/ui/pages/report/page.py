"""The Report page: choose the content, preview the pages, export them."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTemporaryDir, QTimer, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication, QImage, QKeySequence, QShowEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QStackedWidget, QWidget

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.reports.templates import templates
from workbench.ui.pages.report.choices import FormatChoices, NumberChoices, SectionChoices
from workbench.ui.pages.report.model import ReportModel, Stored, offered_numbers, preview_text, read_stored
from workbench.ui.pages.report.preview import Preview
from workbench.ui.pages.report.run_dialog import RunDialog
from workbench.ui.pages.report.template_chooser import TemplateChooser
from workbench.ui.process_work import ProcessWork
from workbench.ui.report_offer import ReportOffer
from workbench.ui.session import Session
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card, EmptyHint
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.words import counted
from workbench.workspace import Workspace
from workbench.workspace.report_templates import store_choice

SETTLE = 600  # ms without a change before the preview is drawn anew
DPI = 138  # of the pages as they are drawn: sharp up to a zoom of 150%
SIDE = 232  # px at 100% text, the columns beside the preview


class ReportPage(QStackedWidget):
    """Reports the shown run, or chosen ones. Pages are drawn in another process, one request after the other."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.model = ReportModel()
        self._drawing = False
        self._stale = True
        self._offer: ReportOffer | None = None  # that came before the workspace was read
        self._reading, self._measuring = Newest(session), Newest(session)
        self._build()
        self._timer = QTimer(self, interval=SETTLE, singleShot=True)
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
        self.runs_word = label("", "caption")
        self.runs_button = button("Choose runs…")
        self.choices = SectionChoices()
        self.templates = TemplateChooser(self.session, self.choices.template)
        self.numbers = NumberChoices()
        self.preview = Preview()
        self.formats = FormatChoices(self.session.preferences)
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder for the report")
        self.browse = button("Browse…")
        self.export_button = button("Export", "export", "primary")
        self.done = ElidedLabel("", "right", Qt.TextElideMode.ElideMiddle)
        self.open_file = button("Open report", kind="quiet")
        self.open_folder = button("Open folder", kind="quiet")
        self.copy_path = button("Copy path", kind="quiet")
        left, right = Card(), Card()
        left.body.setContentsMargins(12, 12, 12, 12)
        right.body.setContentsMargins(12, 12, 12, 12)
        for above in (self.templates, self.runs_word, self.runs_button):
            left.body.addWidget(above)
        left.body.addWidget(self.choices, 1)
        right.body.addWidget(self.numbers)
        for widget in (
            label("Formats", "section"), self.formats, label("Folder", "caption"), self.folder, self.browse,
            self.export_button, self.done, self.open_file, self.open_folder, self.copy_path,
        ):  # fmt: skip
            right.body.addWidget(widget)
        right.body.addStretch(1)
        self._sides = (left, right)
        self._fit_text()
        self.content = QWidget()
        in_row(left, (self.preview, 1), right, on=self.content, margins=(16, 12, 16, 12), spacing=12)
        self.export_action = QAction("Export report", self)
        self.export_action.setShortcut(QKeySequence("Ctrl+E"))
        self.export_action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(self.export_action)
        self.addWidget(self.hint)
        self.addWidget(self.content)

    def _connect(self) -> None:
        self._timer.timeout.connect(self._draw)
        self.session.theme.changed.connect(self._fit_text)
        self.hint.pressed.connect(self._go_to_setup)
        self._keep.timeout.connect(self.templates.keep)
        self._remember.timeout.connect(self._store_choice)
        self.templates.shown.connect(self._show_template)
        self.templates.shown.connect(self._remember.start)
        self.runs_button.clicked.connect(self._choose_runs)
        self.choices.changed.connect(self._wish)
        self.choices.arranged.connect(self._keep.start)
        self.choices.reset.connect(self._reset)
        self.choices.pressed.connect(self._show_section)
        self.numbers.changed.connect(self._wish)
        self.numbers.changed.connect(self._remember.start)
        self.formats.changed.connect(self._check)
        self.formats.paper_changed.connect(self._wish)
        self.folder.textChanged.connect(self._check)
        self.browse.clicked.connect(self._browse)
        self.export_button.clicked.connect(self.export)
        self.export_action.triggered.connect(self.export)
        self.open_file.clicked.connect(self._open_file)
        self.open_folder.clicked.connect(self._open_folder)
        self.copy_path.clicked.connect(self._copy_path)
        self.session.run_changed.connect(self._show_run)
        self.session.evaluation_changed.connect(self._wish)
        self.session.status_changed.connect(self._wish)
        self.session.runs_changed.connect(self._count_runs)
        self.session.workspace_changed.connect(self._forget)
        self.session.report_offered.connect(self._take_offer)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._timer.start(0)

    def _fit_text(self) -> None:
        for side in self._sides:
            side.setFixedWidth(self.session.theme.side(SIDE))

    def export(self) -> None:
        """Write the ticked formats into the folder."""
        run_id, out = self.session.run_id, self.folder.text().strip()
        formats = self.formats.formats()
        if run_id is None or not formats or not out:
            return
        fields = {**self._wanted(), "out": str(Path(out).expanduser()), "formats": formats}
        self.export_button.setEnabled(False)
        ProcessWork(
            self.session, self.session.drawing, "Export report", "write", fields,
            self._exported, self._not_exported, self._check,
        )  # fmt: skip

    def _wanted(self) -> dict[str, Any]:
        choices = self.choices
        return self.model.request(
            self.numbers.wanted(),
            choices.sections(),
            choices.title.text(),
            choices.notes.toPlainText(),
            self.formats.paper(),
        )

    def _exported(self, answer: dict[str, Any]) -> None:
        self.model.written = [Path(path) for path in answer["files"]]
        self._check()

    def _not_exported(self, problem: Problem) -> None:
        self._check()
        self.session.notify(problem)

    def _show_run(self) -> None:
        run = self.model.shown = self.session.run()
        self.setCurrentIndex(0 if run is None else 1)
        self.model.written = []
        if run is not None:
            self.folder.setText("")
            self.session.find_place(run.id, "report", partial(self._take_place, run.id))
            self.preview.show_pages([])
        self._check()
        self._tell_runs()
        self._wish()

    def _take_place(self, run_id: int, folder: str) -> None:
        if run_id == self.session.run_id and not self.folder.text():
            self.folder.setText(folder)

    def _check(self) -> None:
        formats = self.formats.formats()
        missing = self.model.why_no_export(formats, self.folder.text())
        self.export_button.setText(f"Export {counted(len(formats), 'format')}" if formats else "Export")
        self.export_button.setEnabled(not missing)
        self.export_button.setToolTip(missing)
        self.done.setText(self.model.written_text)
        for widget in (self.done, self.open_file, self.open_folder, self.copy_path):
            widget.setVisible(bool(self.model.written))

    def _wish(self) -> None:
        self._stale = True
        if self.isVisible():
            self._timer.start(SETTLE)

    def _draw(self) -> None:
        run_id = self.session.run_id
        if run_id is None or not self.isVisible() or self._drawing:
            return  # what is being drawn looks for a newer wish when it ends
        self._stale, self._drawing = False, True
        self.preview.say("Drawing the pages…")
        folder = QTemporaryDir()
        fields = {**self._wanted(), "out": folder.path(), "dpi": DPI}
        done = partial(self._drawn, folder)
        ProcessWork(
            self.session, self.session.drawing, "Report preview", "preview", fields,
            done, self._not_drawn, self._ended,
        )  # fmt: skip

    def _drawn(self, folder: QTemporaryDir, answer: dict[str, Any]) -> None:
        def work(progress: Progress) -> list[QImage]:
            return [QImage(path) for path in answer["pages"]]

        def then(images: list[QImage]) -> None:
            folder.remove()
            if self._stale:
                self._ended()
            else:
                self._drawing = False
                self.preview.say(preview_text(len(images), answer["total"]))
                self.preview.show_pages(images)
                self.model.sections = answer["sections"]
                self.choices.show_pages(self.model.sections)

        self.session.run_in_thread("Report preview", work, then, self._not_drawn, quiet=True)

    def _show_section(self, key: str) -> None:
        self.preview.show_page(self.model.sections.get(key, 0))

    def _not_drawn(self, problem: Problem) -> None:
        self.preview.show_pages([])
        self.preview.say(str(problem))
        self._drawing = False
        if self._stale:
            self._ended()

    def _ended(self) -> None:
        """After a failed or cancelled drawing: start the request that waits, if any."""
        self._drawing = False
        self.preview.say("")
        if self._stale and self.isVisible():
            self._timer.start(0)

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
        key, runs = self.templates.current().key, list(self.model.chosen)
        chosen = {"template": key, "runs": runs, "metric": metric, "at": at}

        def work(progress: Progress, workspace: Workspace = self.session.workspace) -> None:
            store_choice(workspace, chosen)

        self.session.run_in_thread("Report page", work, quiet=True)

    def _take_offer(self, offer: ReportOffer) -> None:
        """Report the runs that another page has at hand."""
        if not self.ready:
            self._offer = offer
            return
        self.model.chosen = list(offer.runs)
        self.numbers.choose(offer.metric, offer.at)
        self.templates.choose(offer.template)
        self._wish()
        self._remember.start()

    def _forget(self) -> None:
        """Another workspace has other runs, and other templates and choices."""
        for timer in (self._keep, self._remember):
            timer.stop()
        self._offer = None
        self._read()

    def _choose_runs(self) -> None:
        dialog = RunDialog(self.session.runs(), self.model.runs, self)
        dialog.finished.connect(partial(self._take_runs, dialog))
        dialog.open()

    def _take_runs(self, dialog: RunDialog, result: int) -> None:
        if result == QDialog.DialogCode.Accepted:
            self.model.chosen = dialog.chosen
            self._tell_runs()
            self._wish()
            self._remember.start()
        dialog.deleteLater()

    def _tell_runs(self) -> None:
        """Show which runs are reported, and offer their metrics and epochs."""
        self.model.many = self.templates.current().many
        self._count_runs()
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

    def _offer_numbers(self, names: tuple[list[str], list[int]]) -> None:
        before = self.numbers.wanted()
        self.numbers.offer(*names)
        if self.numbers.wanted() != before:
            self._wish()

    def _count_runs(self) -> None:
        self.model.known = self.session.runs()
        self.runs_word.setText(self.model.runs_text)

    def _go_to_setup(self) -> None:
        self.session.show_page("setup")

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Folder for the report", self.folder.text())
        if folder:
            self.folder.setText(folder)

    def _open_file(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.model.written[0])))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.model.written[0].parent)))

    def _copy_path(self) -> None:
        QGuiApplication.clipboard().setText(str(self.model.written[0]))
