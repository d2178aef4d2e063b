"""docs/keys.md lists every shortcut of the window, below the page that has it; ° marks those that cannot be changed."""

import re
from collections.abc import Iterable

import pytest
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from tests.ui.window_process import ROOT
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.window.main_window import MainWindow

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
EVERYWHERE = "everywhere"
PAGE_KEYS = {f"Ctrl+{number}" for number in range(1, len(PAGES) + 1)}  # "Ctrl+1 ... Ctrl+6" in one cell


def listed(text: str) -> dict[str, set[str]]:
    """The keys in the two tables of the page: those that work everywhere, and those of each page of the window."""
    first, second = text.split("| page | key | does |")
    keys = {EVERYWHERE: PAGE_KEYS | _keys(cell for line in first.splitlines() for cell in line.split("|")[1:2])}
    names: list[str] = []
    for line in second.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 4:
            continue
        names = cells[1].split(", ") if cells[1] else names
        for name in names:
            keys[name] = keys.get(name, set()) | _keys([cells[2]])
    return keys


def _keys(cells: Iterable[str]) -> set[str]:
    return {word for cell in cells for word in re.split(r"[\s;,]+", cell)}


def unlisted(window: MainWindow, text: str) -> set[tuple[str, str]]:
    """Shortcuts that the page does not list: where, and the key."""
    keys, changeable = listed(text), {window.commands[name] for name in window.commands}
    titles = {window.pages.page(info.name): info.title for info in PAGES}
    missing = set()
    for owner in [*window.findChildren(QAction), *window.findChildren(QShortcut)]:
        shortcut = owner.shortcut() if isinstance(owner, QAction) else owner.key()
        mark = "" if owner in changeable else "°"
        key = shortcut.toString(QKeySequence.SequenceFormat.PortableText)
        place = _page_of(owner.parent(), titles)
        if key and key + mark not in keys.get(place, set()):
            missing.add((place, key + mark))
    return missing


def _page_of(widget, titles: dict[QWidget, str]) -> str:
    while widget is not None and widget not in titles:
        widget = widget.parent()
    return titles.get(widget, EVERYWHERE)


def test_every_shortcut_of_the_window_is_listed(session, qtbot) -> None:
    text = (ROOT / "docs" / "keys.md").read_text("utf-8")
    session.theme.apply()
    window = qtbot.addWidget(MainWindow(session))
    for info in PAGES:
        window.show_page(info.name)
    window.pages.page("retrieval").views.make(1)  # Label triage
    assert unlisted(window, text) == set()
    assert unlisted(window, text.replace("| G, O,", "| O,")) == {("Map", "G")}
    assert unlisted(window, text.replace("Train | Esc°", "Train | Esc")) == {("Train", "Esc°")}
