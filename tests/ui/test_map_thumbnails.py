"""Pictures in the place of points: which have room, when they are shown, asked for, hit and dimmed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtGui import QColor, QImage, QPixmap
from PySide6.QtWidgets import QApplication
from test_map_drawing import canvas_of, data_of

from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.drawing import canvas as canvas_file
from workbench.ui.pages.map.drawing.level_note import words_of
from workbench.ui.pages.map.drawing.thumbnails import APART, PLACE, SIDE, UP_TO, with_room
from workbench.ui.pages.map.model.map_model import Look
from workbench.ui.style import theme

GREY = QColor("#808080")


class Loader(QObject):
    """Has a grey picture of every sample it was asked for, but for those that are absent."""

    ready = Signal(object)

    def __init__(self):
        super().__init__()
        self.asked, self.absent = [], set()

    def request(self, place, samples, size):
        assert (place, size) == (PLACE, SIDE)
        self.asked = samples

    def pixmap(self, sample, size):
        if sample not in self.asked or sample in self.absent:
            return None
        made = QPixmap(size, size)
        made.fill(GREY)
        return made


@pytest.fixture
def loader():
    return Loader()


@pytest.fixture
def canvas(qtbot, loader):
    """Nine points far apart, and three that lie on the first."""
    points = [[x, y] for x in range(3) for y in range(3)] + [[0.01, 0]] * 3
    made = canvas_of(qtbot, data_of(points, np.arange(12) % 2))
    made.show_pictures(loader)
    made.look()
    return made


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-300, 900)] * 2), max_size=60))
def test_no_picture_lies_over_another_and_none_is_left_out_without_need(places):
    places = np.array(places).reshape(-1, 2)
    kept = with_room(places).tolist()
    apart = np.abs(places[:, None] - places[None]).max(-1)
    assert all(apart[one, other] >= APART for one in kept for other in kept if one != other)
    left_out = set(range(len(places))) - set(kept)
    assert all(min(apart[each, earlier] for earlier in kept if earlier < each) < APART for each in left_out)


def test_pictures_that_arrive_after_fewer_points_came_are_looked_up_among_those(canvas, loader):
    fewer = data_of([[0, 0], [1, 1]], np.arange(2))
    canvas.show_data(fewer, grouped(fewer, "class", theme.LIGHT))
    loader.ready.emit(set(fewer.ids.tolist()))
    assert len(canvas.thumbnails.rows) == 0


def test_points_with_room_are_shown_as_pictures_and_the_note_says_so(canvas, loader):
    assert len(canvas.thumbnails.rows) == 9
    assert set(loader.asked) == set(canvas.data.ids[canvas.thumbnails.rows].tolist())
    assert canvas.note.words.text().startswith("12 of 12 points in view, 9 as pictures")
    assert canvas.note.isVisible()
    place = canvas.place_of(4).toPoint()
    shown = canvas.grab().toImage()
    assert QColor(shown.pixel(place.x() + 9, place.y() + 9)) == GREY
    assert canvas.row_at(canvas.place_of(4) + QPointF(18, -18)) == 4, "the whole picture can be clicked"


def test_a_picture_that_is_absent_stays_a_dot(canvas, loader):
    loader.absent.add(int(canvas.data.ids[4]))
    canvas.look()
    assert "8 as pictures" in canvas.note.words.text()
    shown = canvas.grab().toImage()
    place = canvas.place_of(4).toPoint()
    assert QColor(shown.pixel(place)) != GREY
    assert canvas.row_at(canvas.place_of(4) + QPointF(18, -18)) is None


def test_pictures_can_be_switched_off(canvas):
    canvas.show_look(Look(pictures=False))
    canvas.look()
    assert not len(canvas.thumbnails.rows)
    assert canvas.note.words.text() == "12 of 12 points in view"


def test_hidden_points_have_no_picture_and_unselected_ones_are_faint(canvas):
    canvas.set_hidden(frozenset({1}))
    canvas.look()
    assert set(canvas.data.labels[canvas.thumbnails.rows]) == {0}
    assert "6 hidden" in canvas.note.words.text()
    canvas.set_hidden(frozenset())
    canvas.set_selected(np.arange(12) == 4)
    canvas.look()
    shown = canvas.grab().toImage()
    bright, faint = (canvas.place_of(row).toPoint() for row in (4, 5))
    assert QColor(shown.pixel(bright.x() + 9, bright.y() + 9)) == GREY
    assert QColor(shown.pixel(faint.x() + 9, faint.y() + 9)).lightness() > 200


def test_the_same_points_keep_their_pictures_when_the_view_is_moved(canvas):
    before = set(canvas.thumbnails.rows.tolist())
    canvas.box.translateBy(x=0.05, y=0.0)
    canvas.look()
    assert set(canvas.thumbnails.rows.tolist()) == before


def test_selected_points_are_given_room_first(canvas):
    canvas.set_selected(np.arange(12) == 11)
    canvas.look()
    assert 11 in canvas.thumbnails.rows
    assert not {0, 9, 10} & set(canvas.thumbnails.rows.tolist())


def test_many_points_and_points_in_one_place_stay_dots(qtbot, loader):
    for points in (np.random.default_rng(0).normal(size=(UP_TO + 1, 2)), np.full((14, 2), 3.0)):
        canvas = canvas_of(qtbot, data_of(points))
        canvas.show_pictures(loader)
        canvas.look()
        assert not len(canvas.thumbnails.rows)


def test_a_loaded_picture_is_drawn_when_it_arrives(qtbot, canvas, loader, monkeypatch):
    drawn = []
    monkeypatch.setattr(canvas.thumbnails, "update", lambda: drawn.append(1))
    loader.ready.emit({-1})
    assert not drawn
    loader.ready.emit({loader.asked[0]})
    assert drawn


def test_a_moved_view_asks_once_it_rests(qtbot, canvas, loader):
    loader.asked = []
    for _ in range(5):
        canvas.box.translateBy(x=0.01, y=0.0)
    assert loader.asked == []
    qtbot.waitUntil(lambda: len(loader.asked) == 9)


def test_what_is_shown_is_stated(qtbot, monkeypatch):
    assert words_of(60_502, 60_502, 60_502, 0, False) == "60,502 of 60,502 points in view"
    assert words_of(100, 90, 12, 3, False) == "12 of 100 points in view, 10 hidden, 3 as pictures"
    assert "density" in words_of(200_000, 200_000, 200_000, 0, True)
    monkeypatch.setattr(canvas_file, "CROWD", 300)
    canvas = canvas_of(qtbot, data_of(np.random.default_rng(0).normal(size=(400, 2))))
    canvas.look()
    assert canvas.note.words.text() == words_of(400, 400, 400, 0, True)
    assert canvas.rect().contains(canvas.note.geometry())
    canvas.clear()
    assert not canvas.note.isVisible()


def test_what_reaches_beyond_the_points_is_painted_and_wiped_whole(qtbot, loader):
    points = [[x, y] for x in range(3) for y in range(3)]
    canvas = canvas_of(qtbot, data_of(points, np.arange(9) % 3))
    with qtbot.waitExposed(canvas):
        canvas.show()

    def on_screen():
        QApplication.processEvents()
        return canvas.screen().grabWindow(canvas.winId()).toImage().convertToFormat(QImage.Format.Format_RGB32)

    def as_it_is():
        return canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)

    assert on_screen() == as_it_is()
    canvas.show_pictures(loader)  # they arrive after the points were painted, and are wider
    canvas.look()
    on_screen()
    loader.ready.emit(set(canvas.data.ids.tolist()))
    assert canvas.thumbnails.drawn == 9
    assert on_screen() == as_it_is()
    canvas.set_hidden(frozenset({0, 2}))
    assert on_screen() == as_it_is()
