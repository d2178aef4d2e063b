"""The window: menus, rail, pages, docks, status bar. Their state is in the session."""

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QMessageBox, QWidget

from workbench import __version__
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.actions import offering
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.docks.activity import ActivityDock
from workbench.ui.docks.inspector import InspectorDock
from workbench.ui.docks.runs import RunsDock
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE, OF_SHOWN_RUN, Concern
from workbench.ui.state.in_turns import InTurns
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.state.session import Session
from workbench.ui.state.undo import UndoCommands
from workbench.ui.style.tab_order import order_regions, stops
from workbench.ui.widgets.boxes import in_column
from workbench.ui.window.commands.command_palette import CommandPalette
from workbench.ui.window.commands.finding import things
from workbench.ui.window.commands.menus import Menus, open_log_folder
from workbench.ui.window.commands.shortcuts_dialog import ShortcutsDialog
from workbench.ui.window.frame.focus_in_sight import FocusInSight
from workbench.ui.window.frame.focus_ring import FocusRing
from workbench.ui.window.frame.full_disk import FullDisk
from workbench.ui.window.frame.kept_focus import KeptFocus
from workbench.ui.window.frame.message_bar import MessageBar
from workbench.ui.window.frame.part_keys import PartKeys
from workbench.ui.window.frame.rail import Rail
from workbench.ui.window.frame.status_bar import StatusBar
from workbench.ui.window.frame.welcome import Welcome, dropped_path
from workbench.ui.window.frame.window_layout import WindowLayout
from workbench.ui.window.opening import Opening
from workbench.ui.window.page_stack import PageStack, load_parts, loads
from workbench.ui.window.process import qt_classes
from workbench.ui.window.runs.attention import Attention
from workbench.ui.window.runs.closing import Closing
from workbench.ui.window.runs.desktop_notice import DesktopNotice
from workbench.ui.window.runs.ending import Ending
from workbench.ui.window.runs.remembered_run import RememberedRun
from workbench.ui.window.runs.run_activity import RunActivity
from workbench.ui.window.runs.trash_message import TrashMessage

LOW = 800  # px of height under which the start cards shorten


class MainWindow(QMainWindow):
    """One window on one session."""

    painted = Signal()  # once, after the first paint

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.commands = Commands(session.preferences, self)
        self.run_actions = RunActions(session, self.commands, self)
        self.pages = PageStack(session)
        self.message = MessageBar()
        self.welcome = Welcome()
        self.runs = RunsDock(session, self.run_actions, self)
        self.inspector = InspectorDock(self)
        self.activity = ActivityDock(session.activity, self)
        self.status = StatusBar(session, self.activity.head, self)
        self.closing = Closing(session, self)
        self.ending = Ending(session, self)
        self.opening = Opening(session, self)
        self.arrangement = WindowLayout(self, session.preferences, self.runs, self.inspector, self.activity)
        self._remembered_run = RememberedRun(session, self)
        self._run_activity = RunActivity(session, self)
        self._attention = Attention(session, self)
        self._full_disk = FullDisk(session, self)
        self.notices = DesktopNotice(session, self.commands, self)
        self._trash_message = TrashMessage(session, self.message, self.run_actions.trash.undo, self)
        self._after_paint = QTimer(self, singleShot=True, interval=0)
        self._after_paint.timeout.connect(self.painted)
        self._after_paint.timeout.connect(self._order_stops)
        self._after_paint.timeout.connect(session.places.read)
        self._ready = InTurns(session, self)
        self._first_paint_seen = False
        self._loading = False  # what the pages use, on a thread
        self._begun = False  # whether the user has chosen the images of a first run
        self._ordering = QTimer(self, singleShot=True, interval=0)  # once for all rows and pages of a turn
        self._ordering.timeout.connect(self._order_stops)
        self._build()
        self._connect()
        self._focus_ring = FocusRing(self)
        self._focus_in_sight = FocusInSight(self)
        self._kept_focus = KeptFocus(self, self.pages, lambda: stops(self._regions))
        self.arrangement.restore()
        self._remembered_run.show()
        self.show_page(self._first_page())
        self.pages.setFocus()

    # Building

    def _build(self) -> None:
        self.setAnimated(False)  # a page would be laid out again in every frame when the Inspector comes or goes
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(False)
        self._add_commands()
        self.rail = Rail(self.session, self._page_actions.actions(), self)
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, self.rail)
        self.menus = Menus(self, self.session, self.commands, self.run_actions)
        centre = QWidget()
        in_column(self.message, self.welcome, (self.pages, 1), on=centre, spacing=0)
        self.setCentralWidget(centre)
        self.setStatusBar(self.status)

    def _add_commands(self) -> None:
        add = self.commands.add
        self._page_actions = QActionGroup(self)
        for number, info in enumerate(PAGES, start=1):
            action = add(f"view.{info.name}", info.title, None, f"Ctrl+{number}", info.icon, checkable=True)
            action.setData(info.name)
            self._page_actions.addAction(action)
        add("file.new", "New run", self._begin_run, "Ctrl+N", "plus")
        add("file.open-config", "Open a config…", self.opening.ask_config, "Ctrl+Shift+O", "file-text")
        add("file.open-images", "Use a folder of images…", self.opening.ask_images, "", "image")
        add("file.open-archive", "Use an archive of images…", self.opening.ask_archive, "", "image")
        add("file.open-workspace", "Open or create a workspace…", self.opening.ask_workspace, "Ctrl+O", "folder-open")
        add("file.quit", "Quit", self.close, "Ctrl+Q")
        self.undo = UndoCommands(self.commands, self, self.run_actions.undo_stack)
        add("edit.find-run", "Find a run", self.runs.ask_search, "Ctrl+F", "magnifying-glass")
        add("edit.palette", "Command palette…", self.show_palette, "Ctrl+Shift+P", "command")
        add("edit.shortcuts", "Keyboard shortcuts…", self.show_shortcuts, "F1", "keyboard")
        self.part_keys = PartKeys(self, self.commands, (self.runs, self.pages, self.inspector, self.activity))
        add("view.reset-layout", "Reset layout", self.reset_layout)
        add("view.welcome", "Show the start cards", self._show_welcome)
        add("view.full-screen", "Full screen", self.arrangement.toggle_full_screen, "F11")
        add("help.logs", "Open the log folder", open_log_folder)
        add("help.about", "About Workbench", self._about)
        for key, dock, shortcut in (
            ("runs", self.runs, "Ctrl+Alt+R"),
            ("inspector", self.inspector, "Ctrl+Alt+I"),
            ("activity", self.activity, "Ctrl+Alt+A"),
        ):
            toggle = dock.toggleViewAction()
            toggle.setShortcut(shortcut)
            self.addAction(toggle)
            self.commands.adopt(f"view.dock-{key}", toggle, "View")

    def _connect(self) -> None:
        session = self.session
        self._page_actions.triggered.connect(self._page_chosen)
        self.pages.made.connect(self._page_made)
        session.page_asked.connect(self.show_page)
        session.page_asked.connect(self.arrangement.remember_page)
        session.part_made.connect(self.arrangement.follow)
        session.part_made.connect(self._order_soon)
        session.said.connect(self._notice)
        session.mentioned.connect(self.activity.mention)
        session.settled.connect(self.message.settle)
        session.run_changed.connect(self._turn_messages)
        session.data_chosen.connect(self._put_cards_away)
        session.config_offered.connect(self._set_up)
        session.runs_changed.connect(self._adapt_welcome)
        session.theme.changed.connect(self.arrangement.fit_text)  # the docks have answered it before
        session.workspace_changed.connect(self._workspace_shown)
        session.workspace_changed.connect(self._load_if_dropped)
        session.selection_changed.connect(self._adapt_inspector)
        session.query_changed.connect(self._adapt_inspector)
        self.menus.recent_workspaces.triggered.connect(self.opening.open_recent_workspace)
        self.menus.recent_images.triggered.connect(self.opening.open_recent_images)
        self.welcome.sample_asked.connect(self.opening.start_sample)
        self.welcome.images_offered.connect(self.opening.offer)
        self.welcome.workspace_asked.connect(self.opening.ask_workspace)
        self.welcome.dismissed.connect(self._hide_welcome)
        self._workspace_shown()

    # Pages

    def show_page(self, name: str) -> None:
        """Bring a page to the front."""
        self.pages.show_page(name)
        self.session.page = name
        self._turn_messages()
        info = next(info for info in PAGES if info.name == name)
        self.commands[f"view.{name}"].setChecked(True)
        self.rail.evaluation.set_wanted(info.of_evaluation)
        self.menus.show_page_actions(f"&{info.title}", self.pages.page(name).actions())
        self.undo.follow(self.pages.page(name))
        self.inspector.stand_aside(name == "map")  # which has the selection in its own column
        self._adapt_welcome()
        self._adapt_inspector()

    def _first_page(self) -> str:
        """The page that was shown last, unless it has nothing to show: without a run that is Set up."""
        name, session = self.arrangement.page, self.session
        has_run = session.run_id is not None if name in OF_SHOWN_RUN else bool(session.runs())
        return name if has_run and name in {info.name for info in PAGES} else "setup"

    def _adapt_inspector(self) -> None:
        session = self.session
        selected, query = set(session.selection.tolist()), session.query
        if session.page == "retrieval":  # which shows the query in full
            self.inspector.stand_beside(session.page, bool(selected - {query}))
        else:
            self.inspector.stand_beside(session.page, bool(selected) or query is not None)

    def make_ready(self) -> None:
        """After the first paint: load the pages' modules, then make the Inspector and the other pages.

        Each turn of the event loop loads a module, makes a page, or lays one out. Qt's classes come first: see
        qt_classes. What is not of Qt is loaded on a thread before.
        """
        self._ready.begin(*qt_classes.steps(), self._load_parts, long=True)

    def _load_parts(self) -> None:
        def work(progress: Progress) -> None:
            with self.session.loading(progress):
                load_parts()

        self._loading = True
        self.session.run_in_thread(
            "Loading the pages", work, lambda _: self._load_pages(), lambda _: self._load_pages(), quiet=True
        )

    def _load_pages(self) -> None:
        self._loading = False
        self._ready.begin(*loads(), self._go_on, long=True)

    def _load_if_dropped(self) -> None:
        """With another workspace all tasks are cancelled, the loading of the pages, too."""
        if self._loading:
            self._load_parts()

    def _go_on(self) -> None:
        self._ready.begin(self._make_next, long=True)

    def _make_next(self) -> None:
        if self.inspector.empty:
            self._make_inspector()
            self._go_on()
        elif self.pages.make_next():
            self._go_on()

    def _make_inspector(self) -> None:
        from workbench.ui.pages.map.side.inspector import InspectorPanel

        self.inspector.set_panel(InspectorPanel(self.session))

    def _page_chosen(self, action: QAction) -> None:
        self.session.show_page(action.data())

    def _page_made(self, name: str, page: QWidget) -> None:
        self.arrangement.follow(page)
        self._order_soon()
        title = next(info.title for info in PAGES if info.name == name)
        for action in page.actions():
            if action.text() and not action.isSeparator():
                key = action.objectName() or action.text().replace("&", "").lower().replace(" ", "-")
                self.commands.adopt(f"{name}.{key}", action, title)

    @property
    def _regions(self) -> tuple[QWidget, ...]:
        beside = (self.inspector, self.activity, self.status)
        return (self.rail, self.runs, self.message, self.welcome, self.pages, *beside)

    def _order_soon(self) -> None:
        if self._first_paint_seen:
            self._ordering.start()

    def _order_stops(self) -> None:
        """Have Tab go through the regions in reading order."""
        order_regions(self._regions)

    # What is opened, dropped and offered

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        path = dropped_path(event.mimeData())
        if path is not None and offering.can_be_offered(path):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_path(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.opening.offer(path)

    def _begin_run(self) -> None:
        self._set_up()
        self.session.new_run_asked.emit()

    def _set_up(self) -> None:
        self.session.show_page("setup")

    def _workspace_shown(self) -> None:
        workspace = self.session.workspace
        self._begun = False
        self.message.clear()
        if workspace.read_only:
            self.session.notify(
                Problem(f"The workspace {workspace.path} is read-only.", todo="Open another workspace to train."),
                EVERYWHERE,
            )
        else:
            self.session.preferences.remember("workspaces", workspace.path.absolute())
        if self.session.follower.alone is not None:
            self.session.notify(self.session.follower.alone, EVERYWHERE)
        self._adapt_welcome()

    # Start cards, messages, dialogs

    def _adapt_welcome(self) -> None:
        wanted = not (self.session.runs() or self._begun or self.session.preferences.flag("welcome/hidden"))
        self.welcome.setVisible(wanted and self.session.page == "setup")

    def _put_cards_away(self) -> None:
        """The user has begun: the cards come back with another workspace, or when they are asked for."""
        self._begun = True
        self._adapt_welcome()

    def _hide_welcome(self) -> None:
        self.session.preferences.set_flag("welcome/hidden", True)
        self._adapt_welcome()

    def _show_welcome(self) -> None:
        self.session.preferences.set_flag("welcome/hidden", False)
        self._begun = False
        self.session.show_page("setup")
        self.welcome.show()

    def _turn_messages(self) -> None:
        self.message.turn(self.session.page, self.session.run_id)

    def _notice(self, what: Problem | str, concern: Concern, details: str) -> None:
        self.message.show_message(what, details, concern=concern)
        self.session.activity.log(str(what))

    def show_defect(self, problem: Problem, trace: str) -> None:
        """Show an uncaught exception in the message bar and the log."""
        self.message.show_message(problem, trace)
        self.session.activity.log(str(problem))

    def show_palette(self) -> CommandPalette:
        """Open the command palette over the window."""
        self.run_actions.refresh()
        palette = CommandPalette(self.commands, self, things(self.session, self.pages.page("setup")))
        palette.move(self.mapToGlobal(self.rect().center()) - palette.rect().center() - self.rect().center() / 4)
        palette.open()
        return palette

    def show_shortcuts(self) -> ShortcutsDialog:
        """Open the table of keyboard shortcuts."""
        dialog = ShortcutsDialog(self.commands, self)
        dialog.open()
        return dialog

    def _about(self) -> None:
        text = f"Workbench {__version__}\n\nDeep metric learning: pick, train, watch, map, browse, report."
        box = QMessageBox(QMessageBox.Icon.NoIcon, "About Workbench", text, parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.open()

    def reset_layout(self) -> None:
        """Put every dock back to its first place and size."""
        self.arrangement.reset()
        self._adapt_inspector()

    # Events of the window

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.inspector.adapt(event.size().width())
        self.arrangement.fit_runs()
        self.welcome.set_compact(event.size().height() < LOW)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._first_paint_seen:
            self._first_paint_seen = True
            self._after_paint.start()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self._first_paint_seen:
            self.session.places.read()  # the command line may have changed them meanwhile

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.closing.may_close():
            event.ignore()
            return
        self.arrangement.keep()
        event.accept()
