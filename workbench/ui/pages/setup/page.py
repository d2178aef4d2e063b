"""The Set up page: choose a preset, change it, check it, start."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QHideEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.settings.presets import Preset
from workbench.ui.pages.setup.config_files import ConfigFiles
from workbench.ui.pages.setup.contents import WIDTH as CONTENTS_WIDTH
from workbench.ui.pages.setup.contents import Contents
from workbench.ui.pages.setup.data_finder import DataFinder
from workbench.ui.pages.setup.draft import GROUPS, Draft
from workbench.ui.pages.setup.groups import FormGroups
from workbench.ui.pages.setup.plugins import PluginNotice
from workbench.ui.pages.setup.preflight import PreflightRunner
from workbench.ui.pages.setup.preflight_card import PreflightCard
from workbench.ui.pages.setup.preset_chooser import PresetChooser
from workbench.ui.session import Session
from workbench.ui.tab_order import order_regions
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.form import title_of
from workbench.ui.widgets.labels import ElidedLabel, label

if TYPE_CHECKING:
    from workbench.datasets.inspection import Inspection
    from workbench.running.preflight import Preflight

RIGHT = 300  # px of the preflight's column at 100% text
RIGHT_LEAST = 240  # px in a narrow page
NARROW = 1000  # px of the page under which the form's contents are hidden
NARROWEST = 760  # px of the page under which labels are above their fields


class SetupPage(QWidget):
    """Edits a draft of a run. Every change goes through `_edit`, and `_refresh` shows the result."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.draft: Draft | None = None
        self.config: RunConfig | None = None  # the draft as it can start; None while something is wrong
        self._ready: RunConfig | None = None  # the config, once the places of its data are there, too
        self._preset: Preset | None = None
        self._offered: RunConfig | None = None  # before the catalog was known
        self._bad_paths: list[str] = []
        self._looked_at: tuple[RunConfig, Preflight] | None = None
        self._refused: tuple[RunConfig, Problem] | None = None  # what Preflight found impossible, and why
        self._build()
        self._fit_text()
        self._connect()
        self._add_actions()
        self._begin()

    def _build(self) -> None:
        self.chooser = PresetChooser()
        self.files = ConfigFiles(self.session, self)
        self.summary = ElidedLabel("", "muted", lines=2)
        self.undo = icon_button("arrow-u-up-left", "Undo (Ctrl+Z)")
        self.redo = icon_button("arrow-u-up-right", "Redo (Ctrl+Shift+Z)")
        self.groups = FormGroups([str(path) for path in self.session.preferences.recent("data")])
        self.contents = Contents()
        self.card = PreflightCard()
        self.runner = PreflightRunner(self.session, self)
        self.finder = DataFinder(self.session, self)
        self.plugins = PluginNotice(self.session, self)
        self.trouble = label("", "error", wrap=True)
        self.show_trouble = button("Show", kind="quiet")
        for quiet in (self.trouble, self.show_trouble):
            quiet.hide()
        self.start = button("Start", "play", "primary")
        self.sweep = button("Sweep…", "grid-four")
        self.sweep.setToolTip("Run it with many values of some fields")
        self.save = button("Save…", "floppy-disk")
        self.open = button("Open…", "folder-open")
        self.copy = button("Copy command", "copy")
        for words, control in (("Save config", self.save), ("Open config", self.open)):
            control.setAccessibleName(words)
            control.setToolTip(words)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(12)
        row.addWidget(self.contents)
        row.addLayout(self._left(), 1)
        self._beside = QWidget()
        self._beside.setLayout(self._right())
        row.addWidget(self._beside)

    def _left(self) -> QVBoxLayout:
        column, head = QVBoxLayout(), QHBoxLayout()
        head.setSpacing(8)
        preset = label("Preset")
        preset.setBuddy(self.chooser)
        head.addWidget(preset)
        head.addWidget(self.chooser, 1)
        head.addWidget(self.undo)
        head.addWidget(self.redo)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.summary)
        column.addWidget(self.groups, 1)
        column.addWidget(self.plugins.label)
        return column

    def _right(self) -> QVBoxLayout:
        above = QScrollArea()
        above.setWidgetResizable(True)
        above.setFrameShape(QFrame.Shape.NoFrame)
        above.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        above.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder = QWidget()
        inside = QVBoxLayout(holder)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.card)
        inside.addStretch(1)
        above.setWidget(holder)
        buttons = QGridLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.start, 0, 0)
        buttons.addWidget(self.sweep, 0, 1)
        buttons.addWidget(self.copy, 1, 0, 1, 2)
        buttons.addWidget(self.open, 2, 0)
        buttons.addWidget(self.save, 2, 1)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(above, 1)
        trouble = QHBoxLayout()
        trouble.addWidget(self.trouble, 1)
        trouble.addWidget(self.show_trouble)
        column.addLayout(trouble)
        column.addLayout(buttons)
        return column

    def _connect(self) -> None:
        self.chooser.edited.connect(self._take_preset)
        self.contents.chosen.connect(self.groups.show_heading)
        self.groups.rows_made.connect(self._order_tabs)
        self.groups.edited.connect(self._edit)
        self.groups.reset_asked.connect(self._reset)
        self.groups.offer_taken.connect(self._take_offer)
        self.undo.clicked.connect(self.undo_edit)
        self.redo.clicked.connect(self.redo_edit)
        self.show_trouble.clicked.connect(self._show_first_error)
        self.start.clicked.connect(self.start_run)
        self.sweep.clicked.connect(self.ask_sweep)
        self.save.clicked.connect(self.save_config)
        self.open.clicked.connect(self.open_config)
        self.copy.clicked.connect(self.copy_command)
        self.card.check_asked.connect(self._check_now)
        self.card.data_asked.connect(self.look_at_data)
        self.runner.waits.connect(partial(self.card.show_working, "Waiting for the last change"))
        self.runner.began.connect(self.card.show_working)
        self.runner.doing.connect(self.card.show_working)
        self.runner.done.connect(self._take_preflight)
        self.runner.failed.connect(self._preflight_failed)
        self.runner.counted.connect(self._keep_classes)
        self.runner.held.connect(self._preflight_held)
        self.session.catalog_changed.connect(self._begin)
        self.session.config_offered.connect(self.take_config)
        self.session.runs_changed.connect(self._name_start)
        self.session.theme.changed.connect(self._fit_text)
        self.session.run_ended.connect(self._run_ended)

    def _add_actions(self) -> None:
        """The page's commands: the window puts them into its menu, its palette and its shortcuts."""
        for title, keys, slot in (
            ("Start", "Ctrl+Return", self.start_run),
            ("Sweep…", "Ctrl+Shift+Return", self.ask_sweep),
            ("Undo edit", "Ctrl+Z", self.undo_edit),
            ("Redo edit", "Ctrl+Shift+Z", self.redo_edit),
            ("Save config…", "", self.save_config),
            ("Open config…", "", self.open_config),
            ("Copy command", "", self.copy_command),
            ("Look at the data…", "Ctrl+L", self.look_at_data),
            ("Add a data folder…", "", self.add_data_folder),
            ("Add a plug-in folder…", "", self.plugins.ask),
        ):
            action = QAction(title, self)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(slot)
            self.addAction(action)

    # What the person does

    def take_config(self, config: RunConfig) -> None:
        """Show a config from a file, a run or a folder of images; changes are measured against it."""
        if self.draft is None:
            self._offered = config
            return
        self.draft.load(config)
        self._refresh()

    def undo_edit(self) -> None:
        """Undo the last edit of the config."""
        if self.draft is not None:
            self.draft.undo()
            self._refresh()

    def redo_edit(self) -> None:
        """Redo the edit that was undone last."""
        if self.draft is not None:
            self.draft.redo()
            self._refresh()

    def start_run(self) -> None:
        """Start the run, or put it in line, and show it. Does nothing while something is wrong."""
        if self.config is None or not self.start.isEnabled():
            return
        self.runner.drop()
        self._remember_places()
        self.session.start(self.config, partial(self.session.show_page, "train"))

    def ask_sweep(self) -> None:
        """Open the dialog that varies this run. Does nothing while something is wrong."""
        if self._ready is None or self.config is None:
            return
        from workbench.ui.sweeps.dialog import SweepDialog  # late, as the other dialogs: the window is shown first

        known = self._looked_at if self._looked_at is not None and self._looked_at[0] == self.config else None
        self.sweep_dialog = SweepDialog(self.session, self.config, known[1] if known else None, self)
        self.runner.done.connect(self.sweep_dialog.take_preflight)
        self.sweep_dialog.open()

    def look_at_data(self) -> None:
        """Show what is in the data set, read off the window's thread; the message bar reports missing data."""
        config = self._ready
        if config is None:
            lacks = {} if self.draft is None else self.draft.missing()
            if lacks:
                self.session.notify(next(iter(lacks.values())))
            return

        def work(progress: Progress) -> "Inspection":
            from workbench.running import preflight

            return preflight.inspect_data(config, progress)

        self.session.run_in_thread("Looking at the data", work, partial(self._show_data, config))

    def _show_data(self, config: RunConfig, inspection: "Inspection") -> None:
        from workbench.ui.pages.setup.data_dialog import DataDialog

        self.data_dialog = DataDialog(config.dataset.name, inspection, self)
        self.data_dialog.show()

    def add_data_folder(self) -> None:
        """Remember a folder that holds published data sets: their fields are filled in from it."""
        if folder := QFileDialog.getExistingDirectory(self, "A folder in which data sets lie"):
            self.finder.add(Path(folder))

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
            self.draft.load(chosen.config, sources=chosen.sources)
            self.finder.fill(self.draft)
            self._refresh()

    def _edit(self, path: str, value: Any) -> None:
        if self.draft is not None:
            self.draft.set(path, value)
            if path == "dataset.name" and (said := self.finder.fill(self.draft)):
                self.session.notify(said)
            self._refresh()

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
            self.summary.setText("Reading what is available…")
            self.card.show_idle("Waiting for the list of what is available.")
            for needs_draft in (self.start, self.sweep, self.save, self.copy, self.undo, self.redo):
                needs_draft.setEnabled(False)
            return
        before = self.draft
        self.chooser.learn(self.session.catalog)
        self.draft = Draft(self.session.catalog, self._offered or self.chooser.presets[0].config)
        if before is not None:
            self.draft.values, self.draft.base = before.values, before.base
        self.finder.look()
        self.plugins.look()
        self._refresh()

    def _refresh(self) -> None:
        assert self.draft is not None
        self.config, errors = self.draft.check()
        refused = self._refused[1] if self._refused is not None and self._refused[0] == self.config else None
        if refused is not None and refused.field:
            errors = {refused.field: str(refused)}
        lacks = self.draft.missing()
        errors = errors | lacks
        self.groups.show_draft(self.draft, errors)
        self.contents.show_counts(self.groups.counts())
        self._show_preset()
        self.undo.setEnabled(self.draft.can_undo)
        self.redo.setEnabled(self.draft.can_redo)
        self._explain(errors)
        for needs_config in (self.save, self.copy):
            needs_config.setEnabled(self.config is not None)
        self._ready = None if lacks else self.config
        self.sweep.setEnabled(self._ready is not None)
        if self._ready is None:
            self.card.show_idle("Fix the highlighted fields to run preflight.")
        if self.isVisible():
            self.runner.settle(self._ready)

    def _show_preset(self) -> None:
        assert self.draft is not None
        self._preset = shown = self.chooser.show_base(self.draft.base)
        changed = len(self.draft.changed())
        count = f"{changed} changed. " if changed else ""
        self.summary.setText(count + (shown.summary if shown else "A config from a file or a run."))

    def _explain(self, errors: dict[str, str]) -> None:
        """Show above Start, and in its tooltip, why it is disabled."""
        assert self.draft is not None
        fields = {path: field for heading in GROUPS for path, field in self.draft.fields(heading).items()}
        self._bad_paths = [path for path in fields if path in errors]
        reasons = [f"{title_of(path, fields[path])}: {errors[path]}" for path in self._bad_paths]
        reasons += [f"{path}: {sentence}" for path, sentence in errors.items() if path not in fields]
        more = f" And {len(reasons) - 1} more." if len(reasons) > 1 else ""
        self.trouble.setText(reasons[0] + more if reasons else "")
        self.trouble.setVisible(bool(reasons))
        self.show_trouble.setVisible(bool(self._bad_paths))
        if self._refused is not None and self._refused[0] == self.config:
            reasons.append(str(self._refused[1]))
        self.start.setEnabled(not reasons)
        self.start.setToolTip(reasons[0] if reasons else "Ctrl+Return")
        self.start.setAccessibleDescription(reasons[0] if reasons else "")
        self._name_start()

    def _show_first_error(self) -> None:
        if self._bad_paths:
            self.groups.show_field(self._bad_paths[0])

    def _name_start(self) -> None:
        self.start.setText("Add to queue" if self.session.busy else "Start")

    def _take_preflight(self, result: "Preflight") -> None:
        sets = {key: entry for key, entry in self.session.catalog.items() if key.startswith("dataset/")}
        self.card.show_result(result, {key.removeprefix("dataset/"): entry["title"] for key, entry in sets.items()})
        if self.config is not None:
            self._looked_at = (self.config, result)

    def _keep_classes(self, config: RunConfig, classes: int) -> None:
        """Refuse a choice that the number of classes makes impossible, at its field."""
        if self.draft is not None and self.draft.classes != classes:
            self.draft.note_classes(config, classes)
            if self.draft.check()[0] is None:
                self._refresh()

    def _preflight_failed(self, problem: Problem) -> None:
        self.card.show_problem(problem)
        if self.config is not None:
            self._refused = (self.config, problem)
            self._refresh()

    def _preflight_held(self) -> None:
        self.card.show_idle("A run is working. Preflight would slow it down.", offer_check=True)

    def _check_now(self) -> None:
        self._refused = None
        self._refresh()
        self.runner.look(even_if_busy=True)

    def _run_ended(self, _run_id: int, _status: str) -> None:
        self._name_start()
        if self.isVisible():
            self.runner.take_up()

    def _remember_places(self) -> None:
        assert self.draft is not None
        for path, field in self.draft.fields("Data").items():
            if (
                field.get("path") in ("folder", "place")
                and (chosen := self.draft.value(path))
                and Path(chosen).exists()
            ):
                self.session.preferences.remember("data", Path(chosen))

    # Size and sight

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()

    def _order_tabs(self) -> None:
        order_regions([self])

    def _fit_text(self) -> None:
        """Take the widths of the text size."""
        self.contents.setFixedWidth(self.session.theme.side(CONTENTS_WIDTH))
        narrow = self.width() < NARROW
        self.contents.setVisible(not narrow)
        self.groups.set_labels_above(self.width() < NARROWEST)
        self._beside.setFixedWidth(self.session.theme.side(RIGHT_LEAST if narrow else RIGHT))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.draft is not None and self.config is None and self.draft.forget_classes():
            self._refresh()  # files may have changed since the count that refused it
        self.runner.settle(self._ready)
        self.runner.take_up()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.runner.pause()
