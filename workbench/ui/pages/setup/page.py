"""The Set up page: choose a preset, change it, check it, start."""

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAction, QHideEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.config import RunConfig
from workbench.settings.presets import Preset
from workbench.ui.pages.setup.config_files import ConfigFiles
from workbench.ui.pages.setup.data.finder import DataFinder
from workbench.ui.pages.setup.data.look import DataLook
from workbench.ui.pages.setup.data.strip import LOOK
from workbench.ui.pages.setup.form.contents import WIDTH as CONTENTS_WIDTH
from workbench.ui.pages.setup.form.contents import Contents
from workbench.ui.pages.setup.form.groups import FormGroups
from workbench.ui.pages.setup.form.kept_form import keep_form, kept_form
from workbench.ui.pages.setup.form.preset_chooser import PresetChooser
from workbench.ui.pages.setup.form.steps import FormSteps
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.repairs import missing
from workbench.ui.pages.setup.model.verdict import NO_VERDICT, judged
from workbench.ui.pages.setup.plugins import PluginNotice
from workbench.ui.pages.setup.preflight.answers import PreflightAnswers
from workbench.ui.pages.setup.preflight.runner import PreflightRunner
from workbench.ui.pages.setup.start.at_place import start_at_place
from workbench.ui.pages.setup.start.awaited import AwaitedStart
from workbench.ui.pages.setup.start.column import COPY, StartColumn
from workbench.ui.pages.setup.start.double_click import DoubleClick
from workbench.ui.pages.setup.start.offered import OfferedStart
from workbench.ui.pages.setup.start.queueing import Queueing
from workbench.ui.pages.setup.start.rate import open_rate
from workbench.ui.pages.setup.start.strip import StartStrip
from workbench.ui.pages.setup.start.sweep import open_sweep
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.icons import icon
from workbench.ui.style.tab_order import order_regions
from workbench.ui.style.words import counted, own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.labels import ElidedLabel, label

if TYPE_CHECKING:
    from workbench.places.place import Place

RIGHT = 300  # px of the preflight's column at 100% text
RIGHT_LEAST = 240  # px in a narrow page
SCROLL_BAR = 12  # px of that column, as the style sheet has it
STRIP = (1080, 690)  # px of the page, wide and high, at 100% text, under which the column becomes a strip
UNFOLDED = "setup/preflight"  # the preference: whether the strip's card is shown
NARROW = 700  # px of the form and its contents at 100% text, under which the contents are hidden
SUMMARY_LINES, PROPOSAL_LINES = 2, 12  # that the words below the preset may take; a proposal's only as many as it needs
BEFORE = "Undo restores the previous settings."
MANY = 99  # changed fields, of whose number the words have room
OTHER_DATA = "The data set is not that of the preset: its description does not apply."
NARROWEST = 520  # px of the form at 100% text, under which labels are above their fields


class SetupPage(QWidget):
    """Edits a draft of a run. Every change goes through `_edit`, and `_refresh` shows the result."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.draft: Draft | None = None
        self.verdict = NO_VERDICT
        self._preset: Preset | None = None
        self._offered: RunConfig | None = None  # before the catalog was known
        self._build()
        self._fit_text()
        self._connect()
        self._add_actions()
        self._begin()
        self.groups.rows_made.connect(self._order_tabs)  # of the first rows the window does it, with all regions

    def _build(self) -> None:
        self.chooser = PresetChooser()
        self.files = ConfigFiles(self.session, self)
        self.summary = ElidedLabel("", "muted", lines=SUMMARY_LINES)
        self.undo = icon_button("arrow-u-up-left", own_keys("Undo the last edit of the form (Ctrl+Z)"))
        self.redo = icon_button("arrow-u-up-right", own_keys("Redo that edit (Ctrl+Shift+Z)"))
        self.groups = FormGroups([str(path) for path in self.session.preferences.recent("data")])
        self.steps = FormSteps(lambda: self.draft, self._refresh, self)  # the Edit menu follows it
        self.contents = Contents()
        self.beside = beside = StartColumn()
        self.card, self.start, self.sweep = beside.card, beside.start, beside.sweep
        self.strip = StartStrip(beside)
        self.strip.unfold.setChecked(self.session.preferences.flag(UNFOLDED))
        self.runner = PreflightRunner(self.session, self)
        self.awaited = AwaitedStart(self.runner, self)
        self.queueing = Queueing(self.session, self)
        self._asked, self._begun = DoubleClick(), DoubleClick()
        self.answers = PreflightAnswers(self, self.runner, self.card, self)
        self.finder = DataFinder(self.session, self)
        self.data_look = DataLook(self.session, self)
        self.plugins = PluginNotice(self.session, self)
        inside = (self.contents, (self._left(), 1), self.beside)
        in_column((in_row(*inside, spacing=12), 1), self.strip, on=self, margins=(16, 12, 16, 12), spacing=12)

    def _left(self) -> QVBoxLayout:
        preset = label("Preset")
        preset.setBuddy(self.chooser)
        head = in_row(preset, (self.chooser, 1), self.undo, self.redo, spacing=8)
        return in_column(head, self.summary, (self.groups, 1), self.plugins.label, spacing=4)

    def _connect(self) -> None:
        self.chooser.edited.connect(self._take_preset)
        self.finder.looked.connect(self._mark_found)
        self.contents.chosen.connect(self.groups.show_heading)
        self.groups.heading_seen.connect(self.contents.show_current)
        self.groups.edited.connect(self._edit)
        self.groups.reset_asked.connect(self._reset)
        self.groups.offer_taken.connect(self._take_offer)
        self.undo.clicked.connect(self.steps.undo)
        self.redo.clicked.connect(self.steps.redo)
        self.beside.show_trouble.clicked.connect(self._show_first_error)
        self.beside.mend.clicked.connect(self._mend)
        self.start.clicked.connect(self._start_or_cancel)
        self.sweep.clicked.connect(self.ask_sweep)
        self.beside.where.edited.connect(self._take_where)
        self.strip.unfolded.connect(self._unfold)
        self.beside.places.clicked.connect(self.session.places_asked)
        self.session.places.changed.connect(self._show_places)
        self.beside.save.clicked.connect(self.save_config)
        self.beside.open.clicked.connect(self.open_config)
        self.beside.copy.clicked.connect(self.copy_command)
        self.card.known.connect(self.groups.parts.show_found)
        self.groups.parts.strip.asked.connect(self.look_at_data)
        self.groups.parts.find_rate.clicked.connect(self.ask_rate)
        self.answers.changed.connect(self._refresh)
        self.awaited.changed.connect(self._show_awaited)
        self.awaited.ready.connect(self._start_now)
        self.awaited.refused.connect(self._say_not_started)
        self.session.workspace_changed.connect(self.awaited.drop)
        self.session.catalog_changed.connect(self._begin)
        self.session.config_offered.connect(self.take_config)
        self.session.new_run_asked.connect(self._begin_anew)
        self.session.config_explained.connect(self._explain)
        self.session.runs_changed.connect(self._name_start)
        self.session.theme.changed.connect(self._fit_text)
        self.session.run_ended.connect(self._run_ended)
        self.session.leaving.connect(self._keep)
        OfferedStart(self, self)  # a child, after `_begin` is connected

    def _keep(self) -> None:
        keep_form(self.session, self.draft)

    def _mark_found(self) -> None:
        self.chooser.show_found(self.finder.places)

    def _add_actions(self) -> None:
        """The page's commands: the window puts them into its menu, its palette and its shortcuts."""
        for title, keys, slot in (
            ("Start", "Ctrl+Return", self.start_run),
            ("Sweep…", "Ctrl+Shift+Return", self.ask_sweep),
            ("Save config…", "", self.save_config),
            ("Open config…", "", self.open_config),
            (COPY, "", self.copy_command),
            (LOOK, "Ctrl+L", self.look_at_data),
            ("Find a learning rate…", "", self.ask_rate),
            ("Add a data folder…", "", self.finder.ask),
            ("Add a plug-in folder…", "", self.plugins.ask),
        ):
            action = QAction(title, self)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(slot)
            self.addAction(action)

    @property
    def config(self) -> RunConfig | None:
        """The draft as it can start; None while something is wrong."""
        return self.verdict.config

    # What the user does

    def take_config(self, config: RunConfig) -> None:
        """Show a config from a file, a run or a folder of images; changes are measured against it."""
        if self.draft is None:
            self._offered = config
            return
        self.draft.load(config)
        self._refresh()

    def _begin_anew(self) -> None:
        """Show the preset as it is, from which a new run begins; Undo restores what was changed."""
        changed = 0 if self.draft is None else len(self.draft.changed())
        if self.draft is not None and changed:
            self.draft.reset_all()
            self._refresh()
            self.session.notify(f"New run: {counted(changed, 'field')} went back to the preset. {BEFORE}")
        self.chooser.setFocus()

    def _explain(self, reasons: dict[str, str]) -> None:
        if self.draft is not None:
            self.draft.explain(reasons)
            self._refresh()

    def start_run(self) -> None:
        """Start the run and show it, or add it to the queue and stay here. Does nothing while something is wrong.

        While its check waits or works, the run starts when that has ended.
        """
        if self.config is None or not self.start.isEnabled() or self.awaited.waits:
            return
        if self.runner.checking:
            self._asked.counts()
            self.awaited.ask(self.config)
        else:
            self._start_now()

    def _start_or_cancel(self) -> None:
        if not self.awaited.waits:
            self.start_run()
        elif not self._asked.is_under_way:  # else the second click of a double-click would cancel the start
            self.awaited.drop()

    def _start_now(self) -> None:
        assert self.draft is not None
        assert self.config is not None
        if not self._begun.counts():
            return
        self._keep()
        self.runner.give_way()
        self.finder.remember(self.draft)
        then = partial(self.session.show_page, "train") if self.isVisible() else None
        if (place := self._place()) is not None:
            start_at_place(self, self.config, place, then)
        elif self.session.busy:
            self.queueing.add(self.config)
        else:
            self.session.start(self.config, then)

    def _place(self) -> "Place | None":
        """The chosen place; None for this machine."""
        return self.beside.where.chosen_of(self.session.places.all)

    def _show_places(self) -> None:
        self.beside.where.show_places([place.name for place in self.session.places.all])
        self._name_start()

    def ask_sweep(self) -> None:
        """Open the dialog that varies this run. Does nothing while something is wrong."""
        if self.verdict.ready is None or self.config is None:
            return
        place = self.beside.where.value()
        self.sweep_dialog = open_sweep(self.session, self.config, self.answers.looked_at, place, self.runner, self)

    def ask_rate(self) -> None:
        """Open the range test of this run's learning rate. Does nothing while something is wrong."""
        if self.verdict.ready is not None:
            self.rate_dialog = open_rate(self.session, self.verdict.ready, self.runner, self)
            self.rate_dialog.used.connect(partial(self._edit, "training.lr"))

    def look_at_data(self) -> None:
        """Show what is in the data set, read off the window's thread; the message bar reports missing data."""
        if self.verdict.ready is not None:
            self.data_look.look(self.verdict.ready)
        elif self.draft is not None and (lacks := missing(self.draft)):
            self.session.notify(next(iter(lacks.values())))

    def save_config(self) -> None:
        """Ask for a file and write the config to it; does nothing while the config is not valid."""
        if self.config is not None:
            self.files.save(self.config)

    def open_config(self) -> None:
        """Ask for a config file and show it."""
        if (config := self.files.open()) is not None:
            self.take_config(config)

    def copy_command(self) -> None:
        """Copy the line that does the same in a terminal."""
        if self.config is not None and self.draft is not None:
            unchanged = self.draft.values == self.draft.base
            self.files.copy_command(self.config, self._preset if unchanged else None)

    def _take_preset(self) -> None:
        chosen = self.chooser.chosen()
        if chosen is not None and self.draft is not None:
            self.draft.load(chosen.config, sources=chosen.sources_told)
            self.finder.fill(self.draft)
            self._refresh()

    def _edit(self, path: str, value: Any) -> None:
        if self.draft is not None:
            self.draft.set(path, value)
            if path == "dataset.name" and (said := self.finder.fill(self.draft)):
                self.session.notify(said)
            self._refresh()
            if value and self.draft.is_place(path) and path not in self.verdict.errors:
                self.session.data_chosen.emit()

    def _reset(self, path: str) -> None:
        if self.draft is not None:
            self.draft.reset(path)
            self._refresh()

    def _take_offer(self, kind: str) -> None:
        if self.draft is not None:
            self.draft.take(kind)
            self._refresh()

    # What is shown

    def _begin(self) -> None:
        """Fill the form once the catalog is known; a changed catalog keeps what was typed."""
        if not self.session.catalog:
            self.summary.setText("Reading the list of data sets, backbones and losses…")
            self.beside.show_verdict(NO_VERDICT)
            for needs_draft in (self.start, self.undo, self.redo):
                needs_draft.setEnabled(False)
            self.card.show_idle("Waiting for the list of data sets, backbones and losses.")
            return
        self.chooser.learn(self.session.catalog)
        if self.draft is None:
            kept = kept_form(self.session, self.session.catalog) if self._offered is None else None
            self.draft = kept or Draft(self.session.catalog, self._offered or self.chooser.presets[0].config)
        else:
            self.draft.learn(self.session.catalog)
        self.finder.look()
        self.plugins.look()
        self._refresh()

    def _refresh(self) -> None:
        assert self.draft is not None
        self.verdict = judged(self.draft, self.answers.refused)
        self.groups.show_draft(self.draft, self.verdict.errors)
        self.contents.show_counts(self.groups.counts())
        self.contents.show_current(self.groups.heading)
        self._show_preset()
        self.undo.setEnabled(self.draft.can_undo)
        self.redo.setEnabled(self.draft.can_redo)
        self.steps.changed.emit()
        self.beside.show_verdict(self.verdict)
        self.groups.parts.find_rate.setEnabled(self.verdict.ready is not None)
        self.awaited.keep(self.config, self.verdict.reasons[0] if self.verdict.reasons else "")
        self.card.show_warnings(self.verdict.warnings)
        self._name_start()
        if self.isVisible():
            self.runner.settle(self.verdict.ready)

    def _show_preset(self) -> None:
        assert self.draft is not None
        self._preset = shown = self.chooser.show_base(self.draft.base)
        changed = len(self.draft.changed())
        count = f"{changed} changed. " if changed else ""
        sources = [] if shown is not None else list(self.draft.sources.values())
        about = _proposal(self.draft.reasons()) if sources else "Config from a file or a run."
        if shown is not None:
            of_its_data = self.draft.value("dataset.name") == self.draft.base["dataset"]["name"]
            about = shown.summary if of_its_data else OTHER_DATA
        self.summary.setText(count + about)
        if sources:  # what is below stays where it is when a reason goes
            self.summary.set_lines(PROPOSAL_LINES, room_for=f"{MANY} changed. {_proposal(sources)}")
        else:
            self.summary.set_lines(SUMMARY_LINES)

    def _show_first_error(self) -> None:
        if self.verdict.bad_paths:
            self.groups.show_field(self.verdict.bad_paths[0])

    def _mend(self) -> None:
        if self.verdict.repair is not None:
            _, path, value = self.verdict.repair
            self._edit(path, value)

    def _take_where(self) -> None:
        self.awaited.drop()  # it was asked for at another place
        self._name_start()

    def _show_awaited(self, waits: bool) -> None:
        self.card.show_start(waits)
        self.start.setIcon(icon("x" if waits else "play", "on_accent"))
        self._name_start()

    def _say_not_started(self, reason: str) -> None:
        self.session.notify(f"The run was not started. {reason}", EVERYWHERE)

    def _name_start(self) -> None:
        place = self._place()
        here = "Add to queue" if self.session.busy else "Start"
        anew = f"Start at {place.name}" if place is not None else here
        self.start.setText("Cancel start" if self.awaited.waits else anew)

    def _run_ended(self, _run_id: int, _status: str) -> None:
        self._name_start()
        if self.isVisible():
            self.runner.take_up()

    # Size and sight

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()

    def _unfold(self, on: bool) -> None:
        self.session.preferences.set_flag(UNFOLDED, on)
        self._fit_text()

    def _order_tabs(self) -> None:
        order_regions([self])

    def _fit_text(self) -> None:
        """Take the widths of the text size."""
        px = self.session.theme.px
        self.contents.setFixedWidth(self.session.theme.side(CONTENTS_WIDTH))
        as_strip = self.width() < px(STRIP[0]) or self.height() < px(STRIP[1])
        if self.strip.show_instead(as_strip):
            self._order_tabs()
        column = not as_strip or self.strip.unfold.isChecked()
        self.beside.setVisible(column)
        narrow = self.width() - column * px(RIGHT) < px(NARROW)
        self.contents.setVisible(not narrow)
        above = self.width() - column * px(RIGHT_LEAST) < px(NARROWEST)
        self.groups.fit(self.session.theme.percent / 100, labels_above=above)
        right = self.session.theme.side(RIGHT_LEAST if narrow else RIGHT)
        self.beside.setFixedWidth(right)
        self.card.fit_tiles(right - SCROLL_BAR)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.draft is not None and self.config is None and self.draft.forget_classes():
            self._refresh()  # files may have changed since the count that refused it
        self.runner.settle(self.verdict.ready)
        self.runner.take_up()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.runner.pause()


def _proposal(reasons: list[str]) -> str:
    """What is said of a proposed config, with the reasons that still hold."""
    return f"Proposed: {' '.join(reasons)} {BEFORE}" if reasons else "The proposed fields were changed."
