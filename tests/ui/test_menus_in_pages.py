"""Menus that the pages, the README and the program's messages name, such as File > Places…, have these words."""

import re

import pytest
from PySide6.QtWidgets import QMenu

from tests.ui.window_process import ROOT
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.window.main_window import MainWindow

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
TEXTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "workbench").rglob("*.py"))]
TITLES = ("File", "Edit", "View", "Run", "Help", *(info.title for info in PAGES))
NAMED = re.compile(rf"\b({'|'.join(TITLES)}) > (?=([A-Z].{{,60}}))")


def offered(window: MainWindow) -> dict[str, set[str]]:
    """The title of each menu, those of all pages included, with the names of its actions."""
    menus: dict[str, set[str]] = {}
    for info in PAGES:
        window.show_page(info.name)
        for menu in window.menuBar().findChildren(QMenu):
            actions = {action.text().replace("&", "") for action in menu.actions()}
            menus.setdefault(menu.title().replace("&", ""), set()).update(actions - {""})
    return menus


def not_offered(text: str, menus: dict[str, set[str]]) -> list[str]:
    """Menu entries that the text names and no menu has; the dots at the end of a name may be left out."""
    wrong = []
    for title, words in NAMED.findall(" ".join(text.split())):
        names = {name.rstrip("…") for name in menus[title]}
        if not any(re.match(rf"{re.escape(name)}(?!\w)", words) for name in names):
            wrong.append(f"{title} > {words}")
    return wrong


def test_every_menu_that_is_named_is_one_of_the_window(session, qtbot) -> None:
    session.theme.apply()
    window = qtbot.addWidget(MainWindow(session))
    menus = offered(window)
    named = {path.name: path.read_text("utf-8") for path in TEXTS}
    assert sum(len(NAMED.findall(" ".join(text.split()))) for text in named.values()) > 10
    assert {name: wrong for name, text in named.items() if (wrong := not_offered(text, menus))} == {}
    assert not_offered("File > Places: Set up > Fly\naway…", menus) == ["Set up > Fly away…"]
    assert not_offered("Choose Help > Places…", menus) == ["Help > Places…"]
