"""A page is put together from the outside in: a part that is filled first and moved later is styled again, whole."""

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from workbench.ui.window.page_stack import PageStack

# Times that a widget of a page gets its font anew, on average: 5.7 to 12.5 while parts were moved when they were full.
MOST = {"train": 3.0, "map": 7.0, "retrieval": 3.5, "compare": 3.5, "report": 3.5}


class Restyled(QObject):
    """Counts the changes of a font that the style sheet makes."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        self.times += event.type() == QEvent.Type.FontChange
        return False


@pytest.mark.parametrize("name", MOST)
def test_a_page_is_not_styled_again_and_again_while_it_is_made(qtbot, session, name):
    stack, seen = PageStack(session), Restyled()
    qtbot.addWidget(stack)
    QApplication.instance().installEventFilter(seen)
    page = stack.page(name)
    QApplication.instance().removeEventFilter(seen)
    assert seen.times <= MOST[name] * len(page.findChildren(QWidget))
    qtbot.waitUntil(lambda: not session.reading and session.activity.newest_working is None)
