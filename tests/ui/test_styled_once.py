"""A page is put together from the outside in: a part that is filled first and moved later is styled again, whole."""

from functools import partial

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from workbench.ui.window.page_stack import PageStack

# Times that a widget of a page gets its font anew, on average: 5.7 to 12.5 while parts were moved when they were full.
MOST_OF_A_VIEW = 4.2  # 4.8 to 9.4 while they were put into the page when they were full
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
    stack = qtbot.addWidget(PageStack(session))
    assert restyled(partial(stack.page, name)) <= MOST[name]
    qtbot.waitUntil(lambda: not session.reading and session.activity.newest_working is None)


@pytest.mark.parametrize("view", ["Label triage", "Deployment", "Robustness", "Class size"])
def test_a_view_of_retrieval_is_not_styled_again_and_again_while_it_is_made(qtbot, session, view):
    stack = qtbot.addWidget(PageStack(session))
    views = stack.page("retrieval").views
    at = next(at for at in range(views.count()) if views.tabText(at) == view)
    assert restyled(partial(views.make, at)) <= MOST_OF_A_VIEW
    qtbot.waitUntil(lambda: not session.reading and session.activity.newest_working is None)


def restyled(make):
    """How often the widgets that are made, and those in them, get their font, on average."""
    seen = Restyled()
    QApplication.instance().installEventFilter(seen)
    made = make()
    QApplication.instance().removeEventFilter(seen)
    return seen.times / len(made.findChildren(QWidget))
