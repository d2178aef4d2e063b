"""The stack of pages: a page that is not shown costs nothing when another one is."""

from threading import Event

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from tests.waits import HANG
from workbench.ui.state.pages.in_parts import begun, finish
from workbench.ui.state.pages.page_info import PAGES
from workbench.ui.style.tab_order import order_regions
from workbench.ui.window.page_stack import LOOK_EVERY, NARROWEST, PageStack

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


class Counted(QLabel):
    """A text of several lines that counts how often it is laid out."""

    asked = 0

    def heightForWidth(self, width):  # noqa: N802  Qt's way of naming
        self.asked += 1
        return super().heightForWidth(width)


class Text(QWidget):
    def __init__(self, least):
        super().__init__()
        self.text = Counted("one two three " * 40, self)
        self.text.setWordWrap(True)
        self.text.setMinimumHeight(least)
        QVBoxLayout(self).addWidget(self.text)


class Stack(PageStack):
    """Pages of a text each, of another least height."""

    def make(self, info):
        return Text({"setup": 100, "train": 300}.get(info.name, 50))


@pytest.fixture
def stack(qtbot, session):
    window = qtbot.addWidget(QWidget())
    stack = Stack(session)
    QVBoxLayout(window).addWidget(stack)
    window.resize(900, 600)
    yield stack  # the window lives until then
    window.close()


def test_the_text_of_a_hidden_page_is_not_laid_out(stack, qtbot):
    setup, train = stack.page("setup"), stack.page("train")
    stack.show_page("setup")
    stack.window().show()
    qtbot.waitUntil(stack.updatesEnabled)
    setup.text.asked = train.text.asked = 0
    train.text.setText("another text " * 60)  # news for a page that is not shown
    stack.show_page("train")
    qtbot.waitUntil(stack.updatesEnabled)
    assert train.text.asked, "the page that is shown is laid out"
    assert not setup.text.asked


def test_the_stack_is_no_smaller_than_a_page_that_was_shown_needs(stack, qtbot):
    stack.page("train")
    stack.show_page("setup")
    stack.window().show()
    qtbot.waitUntil(lambda: stack.minimumSizeHint().height() >= 100)
    assert stack.minimumSizeHint().height() < 300
    assert stack.minimumSizeHint().width() == NARROWEST
    stack.show_page("train")
    qtbot.waitUntil(lambda: stack.minimumSizeHint().height() >= 300)
    stack.show_page("setup")
    qtbot.waitUntil(stack.updatesEnabled)
    assert stack.minimumSizeHint().height() >= 300, "a turn of pages changes the least size of the window no more"


def test_a_page_is_painted_once_what_it_reads_has_come(stack, qtbot, session, monkeypatch):
    monkeypatch.setattr("workbench.ui.window.page_stack.LONGEST", 600.0)
    stack.show_page("setup")
    stack.window().show()
    qtbot.waitUntil(stack.updatesEnabled)
    may_end = Event()
    task = session.read(may_end.wait, lambda answer: None)
    stack.show_page("train")
    looks = []
    timer = QTimer(stack, interval=LOOK_EVERY)
    timer.timeout.connect(lambda: looks.append(1))
    timer.start()
    qtbot.waitUntil(lambda: len(looks) >= 5)
    assert session.reading
    assert not stack.updatesEnabled()
    may_end.set()
    qtbot.waitUntil(stack.updatesEnabled)
    assert not session.reading
    task.join(HANG)


def test_a_page_that_reads_for_long_is_painted_before_its_answer(stack, qtbot, session):
    may_end = Event()
    task = session.read(may_end.wait, lambda answer: None)
    stack.show_page("train")
    stack.window().show()
    qtbot.waitUntil(stack.updatesEnabled)
    assert session.reading
    may_end.set()
    task.join(HANG)


class Slow(QWidget):
    """A page of three parts, which says what was made."""

    def __init__(self, made, parent):
        super().__init__(parent)
        self.made = made
        self.making = begun(self._parts(), in_parts=True)

    def _parts(self):
        for part in "abc":
            self.made.append(part)
            yield


class InThree(PageStack):
    """Its pages are made in three parts; `parts` are those that were made, of all pages."""

    parts: list[str]

    def make(self, info):
        self.parts = self.parts if hasattr(self, "parts") else []
        return Slow(self.parts, self)


@pytest.fixture
def in_three(qtbot, session):
    return qtbot.addWidget(InThree(session))


def test_a_page_is_made_a_part_in_each_turn_and_not_shown_half_made(in_three):
    shown = []
    in_three.made.connect(lambda name, page: shown.append(name))
    told = [(in_three.make_next(), "".join(in_three.parts), list(shown)) for _ in range(5)]
    assert told == [(True, parts, names) for parts, names in (
        ("", []), ("a", []), ("ab", []), ("abc", []), ("abc", ["setup"]))]  # fmt: skip
    while in_three.make_next():
        pass
    assert "".join(in_three.parts) == len(PAGES) * "abc"
    assert shown == [info.name for info in PAGES]


def test_a_page_that_is_asked_for_half_made_is_finished_at_once(in_three):
    in_three.make_next()
    in_three.make_next()
    half = in_three.findChild(Slow)
    assert half.made == ["a"]
    assert in_three.page("setup") is half
    assert half.made == ["a", "b", "c"]
    assert in_three.page("map").made == 2 * ["a", "b", "c"], "also one that was not begun"


def test_a_page_of_which_a_part_fails_is_made_anew(in_three):
    in_three.make_next()
    half = in_three.findChild(Slow)
    half.made = ()  # to which nothing can be appended
    with pytest.raises(AttributeError):
        in_three.make_next()
    page = in_three.page("setup")
    assert page is not half
    assert page.made == ["a", "b", "c"]


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_widget_is_made_at_once_unless_it_is_to_be_made_in_parts(in_parts):
    made = []
    left = begun((made.append(part) for part in "ab"), in_parts)
    assert made == ([] if in_parts else ["a", "b"])
    finish(left)
    assert made == ["a", "b"]


def test_no_turn_makes_more_than_two_plots(qtbot, session, monkeypatch):
    plots, make = [], pg.PlotItem.__init__
    monkeypatch.setattr(pg.PlotItem, "__init__", lambda item, **named: (plots.append(item), make(item, **named))[1])
    stack = qtbot.addWidget(PageStack(session))
    stack.page("setup")  # the window shows it first
    most, going_on = 0, True
    while going_on:
        before = len(plots)
        going_on = stack.make_next()
        most = max(most, len(plots) - before)
    assert len(plots) > 6
    assert most <= 2
    qtbot.waitUntil(lambda: not session.reading)  # the pages' answers are for pages that are there


class Buttons(PageStack):
    """Pages of two buttons each."""

    def make(self, info):
        page = QWidget()
        column = QVBoxLayout(page)
        for number in range(2):
            column.addWidget(QPushButton(f"{info.name} {number}"))
        return page


@pytest.fixture
def beside(qtbot, session):
    """A stack with two pages, and a button outside it."""
    window = qtbot.addWidget(QWidget())
    stack = Buttons(session)
    column = QVBoxLayout(window)
    column.addWidget(QPushButton("Outside"))
    column.addWidget(stack)
    for name in ("train", "setup"):
        stack.page(name)
    order_regions([window])
    stack.show_page("setup")
    window.show()
    window.activateWindow()
    yield stack
    window.close()


def words(widget):
    return widget.text() if isinstance(widget, QPushButton) else widget.accessibleName()


def test_a_page_shown_by_a_button_of_another_gets_the_focus_and_none_of_its_buttons(beside, qtbot):
    window = beside.window()
    beside.page("setup").findChildren(QPushButton)[1].setFocus()
    beside.show_page("train")
    assert words(window.focusWidget()) == "Train", "Enter or Space must press nothing here"
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
    assert words(window.focusWidget()) == "train 0"


def test_a_button_outside_the_pages_keeps_the_focus(beside):
    window = beside.window()
    next(button for button in window.findChildren(QPushButton) if button.text() == "Outside").setFocus()
    beside.show_page("train")
    assert words(window.focusWidget()) == "Outside"


class Remembering(PageStack):
    """Remembers each page as soon as its first part is made."""

    def __init__(self, session):
        super().__init__(session)
        self.all = []

    def make(self, info):
        self.all.append(super().make(info))
        return self.all[-1]


def test_pages_are_resized_while_parts_of_them_are_missing(qtbot, session):
    """As by a picture of the window; PySide 6.11 then loses functions after an error, and the process ends."""
    stack = qtbot.addWidget(Remembering(session))
    left = True
    while left:
        left = stack.make_next()
        for page in stack.all:
            with qtbot.captureExceptions() as errors:
                QApplication.sendEvent(page, QResizeEvent(QSize(900, 600), page.size()))
            assert errors == []
    qtbot.waitUntil(lambda: not session.reading and session.activity.newest_working is None)
    qtbot.deliver()
