"""Every command of the window by key: one QAction each, with a shortcut that the user can change."""

from collections.abc import Callable, Iterator, Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from workbench.ui.preferences import Preferences
from workbench.ui.style.icons import icon

STARTS = " /:"  # a word begins after one of these


class Commands(QObject):
    """The commands of the window and of its pages. Keys such as "view.map" name them in the preferences."""

    changed = Signal()

    def __init__(self, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._preferences, self._window = preferences, window
        self._actions: dict[str, QAction] = {}
        self._groups: dict[str, str] = {}
        self._defaults: dict[str, QKeySequence] = {}
        self._names: dict[str, str] = {}

    def add(
        self,
        key: str,
        title: str,
        slot: Callable[..., object] | None = None,
        shortcut: str = "",
        icon_name: str = "",
        *,
        checkable: bool = False,
    ) -> QAction:
        """Add a command of the window; `slot` is a method of a QObject. "&" marks the letter in menus."""
        action = QAction(title, self._window)
        action.setCheckable(checkable)
        if icon_name:
            action.setIcon(icon(icon_name, "muted"))
        action.setShortcut(QKeySequence(shortcut))
        if slot is not None:
            action.triggered.connect(slot)
        self._window.addAction(action)
        self.adopt(key, action)
        return action

    def adopt(self, key: str, action: QAction, group: str = "") -> None:
        """Add an action that was made elsewhere, such as by a page: its shortcut becomes editable."""
        self._actions[key] = action
        self._groups[key] = group or key.partition(".")[0].capitalize()
        self._defaults[key] = action.shortcut()
        self._names.setdefault(key, self.title(key))
        chosen = self._preferences.text(f"shortcuts/{key}", "default")
        if chosen != "default":
            action.setShortcut(QKeySequence(chosen))
        self.changed.emit()

    def __getitem__(self, key: str) -> QAction:
        return self._actions[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._actions)

    def __contains__(self, key: str) -> bool:
        return key in self._actions

    def title(self, key: str) -> str:
        """The command's title, without the "&" for menus."""
        return self._actions[key].text().replace("&", "").removesuffix("…")

    def name(self, key: str) -> str:
        """The title that the command was added with: "Undo", also where it says now what it would undo."""
        return self._names[key]

    def group(self, key: str) -> str:
        """The command's group: "View", "Run", "Map", ..."""
        return self._groups[key]

    def shortcut(self, key: str) -> QKeySequence:
        """The command's shortcut; empty when it has none."""
        return self._actions[key].shortcut()

    def default(self, key: str) -> QKeySequence:
        """The shortcut that the command has before the user changes it."""
        return self._defaults[key]

    def set_shortcut(self, key: str, sequence: QKeySequence) -> None:
        """Change a shortcut and remember it; an empty one removes it."""
        self._keep_shortcut(key, sequence)
        self.changed.emit()

    def _keep_shortcut(self, key: str, sequence: QKeySequence) -> None:
        self._actions[key].setShortcut(sequence)
        if sequence == self._defaults[key]:
            self._preferences.forget(f"shortcuts/{key}")
        else:
            self._preferences.set_text(f"shortcuts/{key}", sequence.toString())

    def reset_shortcuts(self) -> dict[str, QKeySequence]:
        """Give every command its default shortcut; returns those that were replaced, by command."""
        replaced = {key: self.shortcut(key) for key in self._actions if self.shortcut(key) != self._defaults[key]}
        self.set_shortcuts({key: self._defaults[key] for key in replaced})
        return replaced

    def set_shortcuts(self, sequences: Mapping[str, QKeySequence]) -> None:
        """Change several shortcuts and remember them."""
        for key, sequence in sequences.items():
            self._keep_shortcut(key, sequence)
        self.changed.emit()  # once: the table of shortcuts compares all commands with each other at each change

    def conflicts(self, key: str) -> list[str]:
        """Other commands with the same shortcut that are available at the same time."""
        mine, group = self.shortcut(key), self.group(key)
        if mine.isEmpty():
            return []
        return [
            other
            for other in self._actions
            if other != key and self.shortcut(other) == mine and self._meet(group, self.group(other))
        ]

    @staticmethod
    def _meet(first: str, second: str) -> bool:
        """Whether both groups can be available at once; those of two different pages cannot."""
        pages = {"Setup", "Train", "Map", "Retrieval", "Compare", "Report"}
        return first == second or not (first in pages and second in pages)


def score(typed: str, title: str) -> int | None:
    """How well `typed` fits: its letters must come in order. Higher is better; None when it does not fit.

    Letters at the start of a word and letters side by side count more, and most the words as they are typed at the
    start of a word; among equals the shorter title wins.
    """
    wanted, text = typed.casefold().replace(" ", ""), title.casefold()
    at, points, before = -1, 0, -2
    for letter in wanted:
        at = text.find(letter, at + 1)
        if at < 0:
            return None
        points += 1 + 4 * (at == 0 or text[at - 1] in STARTS) + 3 * (at == before + 1)
        before = at
    begun = any(f"{mark}{typed.casefold().strip()}" in f" {text}" for mark in STARTS)
    return 100 * (points + 4 * len(wanted) * begun) - len(text)
