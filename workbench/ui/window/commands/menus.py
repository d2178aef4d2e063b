"""The menu bar: every command of the window in its menu."""

from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QAction, QActionGroup, QDesktopServices
from PySide6.QtWidgets import QMainWindow, QMenu

from workbench.ui.actions.run_actions import RunActions
from workbench.ui.state.commands import Commands
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.window.process.defects import log_folder

TEXT_SIZES = (90, 100, 110, 125, 150)  # %


class RecentMenu(QMenu):
    """Folders that were used recently, read when the menu opens."""

    def __init__(self, title: str, kind: str, session: Session, parent: QMenu) -> None:
        super().__init__(title, parent)
        self._kind, self._session = kind, session
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        for path in self._session.preferences.recent(self._kind):
            action = self.addAction(str(path).replace("&", "&&"))
            action.setData(str(path))
        if self.isEmpty():
            self.addAction("None yet").setEnabled(False)


class AppearanceActions(QObject):
    """Theme and text size."""

    def __init__(self, session: Session, commands: Commands, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = session.theme
        self.themes = self._group(
            commands, "theme", [("system", "Follow the system"), ("light", "Light"), ("dark", "Dark")]
        )
        self.sizes = self._group(commands, "text", [(str(size), f"Text at {size}%") for size in TEXT_SIZES])
        self.larger = commands.add("view.text-larger", "Larger text", self._larger, "Ctrl++")
        self.smaller = commands.add("view.text-smaller", "Smaller text", self._smaller, "Ctrl+-")
        self.themes.triggered.connect(self._choose_theme)
        self.sizes.triggered.connect(self._choose_size)
        session.theme.changed.connect(self._mark)
        self._mark()

    def _group(self, commands: Commands, name: str, choices: list[tuple[str, str]]) -> QActionGroup:
        group = QActionGroup(self)
        for value, title in choices:
            action = commands.add(f"view.{name}-{value}", title, checkable=True)
            action.setData(value)
            group.addAction(action)
        return group

    def _choose_theme(self, action: QAction) -> None:
        self._theme.choose(action.data())

    def _choose_size(self, action: QAction) -> None:
        self._theme.set_text_size(int(action.data()))

    def _larger(self) -> None:
        self._theme.set_text_size(next((size for size in TEXT_SIZES if size > self._theme.percent), TEXT_SIZES[-1]))

    def _smaller(self) -> None:
        smaller = [size for size in TEXT_SIZES if size < self._theme.percent]
        self._theme.set_text_size(smaller[-1] if smaller else theme.SMALLEST_TEXT)

    def _mark(self) -> None:
        for action in self.themes.actions():
            action.setChecked(action.data() == self._theme.choice)
        for action in self.sizes.actions():
            action.setChecked(int(action.data()) == self._theme.percent)


class Menus:
    """Fills the menu bar once; `page` is the menu of the current page's own commands."""

    def __init__(self, window: QMainWindow, session: Session, commands: Commands, runs: RunActions) -> None:
        self._commands = commands
        bar = window.menuBar()
        self.file = bar.addMenu("&File")
        self.edit = bar.addMenu("&Edit")
        self.view = bar.addMenu("&View")
        self.page = bar.addMenu("&Page")
        self.run = bar.addMenu("&Run")
        self.help = bar.addMenu("&Help")
        self.recent_workspaces = RecentMenu("Recent workspaces", "workspaces", session, self.file)
        self.recent_images = RecentMenu("Recent data folders", "data", session, self.file)
        self.appearance = AppearanceActions(session, commands, window)
        self._fill()
        self._fill_run(runs)

    def _fill(self) -> None:
        add = self._add
        add(self.file, "file.new", "file.open-config", "file.open-images", "file.open-archive", "")
        add(self.file, "file.import", "file.import-curves", "file.import-runs", "")
        add(self.file, "file.open-workspace")
        self.file.addMenu(self.recent_workspaces)
        self.file.addMenu(self.recent_images)
        add(self.file, "", "file.places", "", "file.quit")
        add(self.edit, "edit.undo", "edit.redo", "", "edit.find-run", "edit.palette", "edit.shortcuts")
        add(self.view, *(f"view.{info.name}" for info in PAGES), "")
        add(self.view, "view.dock-runs", "view.dock-inspector", "view.dock-activity", "view.welcome", "")
        add(self.view, "view.next-part", "view.previous-part", "view.reset-layout", "view.full-screen", "")
        self._add_appearance()
        add(self.help, "edit.shortcuts", "edit.palette", "help.logs", "", "help.about")

    def _add(self, menu: QMenu, *keys: str) -> None:
        """Add commands by key; "" adds a separator."""
        for key in keys:
            if key:
                menu.addAction(self._commands[key])
            else:
                menu.addSeparator()

    def _add_appearance(self) -> None:
        """The submenus of theme and text size at the end of View."""
        themes = self.view.addMenu("Theme")
        themes.addActions(self.appearance.themes.actions())
        sizes = self.view.addMenu("Text size")
        sizes.addActions(self.appearance.sizes.actions())
        sizes.addSeparator()
        sizes.addActions([self.appearance.larger, self.appearance.smaller])

    def show_page_actions(self, title: str, actions: list[QAction]) -> None:
        """Show the current page's commands; the menu is hidden when there are none."""
        self.page.clear()
        self.page.setTitle(title)
        self.page.addActions(actions)
        self.page.menuAction().setVisible(bool(actions))

    def _fill_run(self, runs: RunActions) -> None:
        self.run.addActions(runs.of_menu)
        self._add(self.run, "run.notices", "")
        self.run.addActions([action for action in runs.of_list if action not in runs.of_menu])
        self.run.aboutToShow.connect(runs.refresh)


def open_log_folder() -> None:
    """Show the folder of the log in the system's file browser."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_folder())))


def chosen_place(action: QAction) -> Path | None:
    """The folder behind an entry of a RecentMenu."""
    return Path(action.data()) if action.data() else None
