"""The map without its page: what is drawn where, what lies in an outline, which colours and groups there are."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QImage

from tests.ui.seen import drawn
from workbench.colours import OKABE_ITO, class_colours, rgb
from workbench.projection.islands import cells_of, clusters_in
from workbench.ui.pages.map import map_files
from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.drawing import class_names
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.drawing.class_names import free_boxes
from workbench.ui.pages.map.drawing.cover import MOST, Cover, evenly
from workbench.ui.pages.map.hovering.hover_card import GAP, beside, covered
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.map_model import Look
from workbench.ui.pages.map.model.spatial import inside
from workbench.ui.pages.map.points import cloud, stamps
from workbench.ui.pages.map.points.extent import diameter
from workbench.ui.style import theme

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def data_of(points, labels=None, ap=None, right=None, proxies=None):
    n = len(points)
    labels = np.zeros(n, np.int64) if labels is None else np.asarray(labels)
    return MapData(
        np.asarray(points, np.float32), proxies, np.arange(0 if proxies is None else len(proxies)),
        np.arange(n, dtype=np.int64) + 100, labels, np.full(n, 0.5, np.float32) if ap is None else np.asarray(ap),
        np.ones(n, bool) if right is None else np.asarray(right), tuple(f"class {each}" for each in range(20)), "",
    )  # fmt: skip


def ink_of(places, colours, crosses=None):
    x, y = np.asarray(places, float).T
    return stamps.Ink(x, y, colours, np.zeros(len(x), bool) if crosses is None else crosses)


def density_at(ink, size, bright, faint):
    index, seen = stamps.pixels_of(ink, size)
    return stamps.density(index, ink.colours[seen], size, None if bright is None else bright[seen], faint)


def pixel(image: QImage, x: int, y: int) -> int:
    return image.pixel(x, y)


def test_each_point_is_stamped_at_its_place_and_nowhere_else():
    image = stamps.splat(ink_of([[10.4, 20.6], [40.0, 5.0]], rgb("#FF0000", "#0000FF")), (60, 50), 5)
    assert pixel(image, 10, 20) == 0xFFFF0000
    assert pixel(image, 40, 5) == 0xFF0000FF
    marked = [(x, y) for x in range(60) for y in range(50) if pixel(image, x, y)]
    assert len(marked) == 2 * len(stamps.disc(5))
    assert all(min(np.hypot(x - 10, y - 20), np.hypot(x - 40, y - 5)) <= 3 for x, y in marked)


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("wide", [3.0, 7.4, 12.0])
def test_a_smooth_point_has_its_centre_within_a_quarter_of_a_pixel(crossed, wide):
    for x, y in ([20.0, 25.0], [20.5, 25.0], [20.2, 25.7], [20.75, 25.49]):
        ink = stamps.Ink(np.array([x]), np.array([y]), rgb("#FF0000"), np.array([crossed]))
        image = stamps.painted(ink, (60, 50), wide)
        cover = np.array([[pixel(image, column, row) >> 24 for column in range(60)] for row in range(50)], float)
        middle_x = (cover.sum(0) * (np.arange(60) + 0.5)).sum() / cover.sum()
        middle_y = (cover.sum(1) * (np.arange(50) + 0.5)).sum() / cover.sum()
        assert abs(middle_x - x) < 0.3
        assert abs(middle_y - y) < 0.3


def test_later_points_lie_on_top_and_points_outside_do_not_wrap_around():
    places = np.array([[30, 30], [30, 30], [-40, 10], [100, 10], [30, -500]], float)
    inks = rgb("#FF0000", "#00FF00", "#0000FF", "#0000FF", "#0000FF")
    image = stamps.splat(ink_of(places, inks), (60, 50), 5)
    assert pixel(image, 30, 30) == 0xFF00FF00
    assert not any(pixel(image, x, y) & 0xFF for x in range(60) for y in range(50))


def test_a_point_half_outside_is_drawn_up_to_the_edge():
    image = stamps.splat(ink_of([[0.0, 25.0], [59.0, 49.0]], rgb("#FF0000", "#FF0000")), (60, 50), 5)
    assert pixel(image, 0, 25)
    assert pixel(image, 2, 25)
    assert pixel(image, 59, 49)
    assert not pixel(image, 59, 25), "nothing comes back in on the other side"


def test_a_cross_can_be_told_from_a_disc_without_colour():
    for wide in (2, 3, 5, 7, 14):
        assert set(stamps.cross(wide)) != set(stamps.disc(wide))
        reach = max(x for x, _ in stamps.cross(wide))
        assert (reach, 0) not in stamps.cross(wide)
        assert (reach, reach) in stamps.cross(wide)


def by_hand(ink, size, wide):
    """Every point in turn stamps every pixel of its shape."""
    found = np.zeros((size[1], size[0]), np.uint32)
    for x, y, colour, crossed in zip(ink.x, ink.y, ink.colours, ink.crosses, strict=True):
        for dx, dy in (stamps.cross if crossed else stamps.disc)(wide):
            column, row = int(np.floor(x)) + dx, int(np.floor(y)) + dy
            if 0 <= column < size[0] and 0 <= row < size[1]:
                found[row, column] = colour
    return found


def pixels_of(image):
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()).copy()


def test_a_crowd_is_stamped_exactly_as_if_each_point_were_drawn_after_the_other():
    random = np.random.default_rng(3)
    ink = ink_of(random.uniform(-6, 56, (900, 2)), random.integers(1, 2**32, 900, np.uint32), random.random(900) < 0.3)
    assert 100 * len(ink.x) > stamps.CROWDED * 66 * 56, "many enough to be grown in the picture"
    for wide in (2, 3.4, 5):
        assert (pixels_of(stamps.splat(ink, (50, 40), wide)) == by_hand(ink, (50, 40), wide)).all()


@pytest.mark.parametrize("at_once", [stamps.PIXELS_AT_ONCE, 50])
def test_few_overlapping_points_lie_in_order_too(monkeypatch, at_once):
    monkeypatch.setattr(stamps, "PIXELS_AT_ONCE", at_once)
    random = np.random.default_rng(1)
    places = random.uniform(0, 30, (60, 2))  # in a corner of a picture that is large for them
    ink = ink_of(places, random.integers(1, 2**32, 60, np.uint32), np.zeros(60, bool))
    size = (200, 100)
    assert 100 * len(places) < stamps.CROWDED * size[0] * size[1]
    for wide in (3.4, 7, 14):
        assert (pixels_of(stamps.splat(ink, size, wide)) == by_hand(ink, size, wide)).all()


def test_density_counts_the_points_of_each_pixel_as_opacity_in_the_colour_of_one_of_them():
    inks = rgb(*["#FF0000"] * 30, "#0000FF", "#00FF00")
    places = [[5.5, 7.2]] * 30 + [[0, 0], [-0.5, 3]]
    found = pixels_of(density_at(ink_of(places, inks), (20, 10), None, np.uint32(0)))
    assert found[7, 5] == 0xFFFF0000, "opaque from FULL_AT points on"
    assert abs(int(found[0, 0] >> 24) - 255 * (0.5 + 0.5 * np.log(2) / np.log(25))) <= 2
    assert found[0, 0] & 0xFFFF00 == 0
    assert np.count_nonzero(found) == 2, "a point beyond the edge is not drawn"


def test_density_of_a_selection_has_its_colours_over_the_faint_rest():
    inks = rgb("#FF0000", "#0000FF", "#00FF00", "#FFFFFF")
    bright = np.array([False, True, False, False])
    faint = stamps.faded("#808080")
    found = pixels_of(density_at(ink_of([[1, 1], [1, 1], [3, 1], [3, 1]], inks), (5, 5), bright, faint))
    assert found[1, 1] & 0xFFFFFF < 0x100, "blue, though two points lie there"
    assert 0 < found[1, 3] >> 24 < stamps.DIMMED


def test_thinned_is_each_channel_times_the_opacity():
    random = np.random.default_rng(0)
    colours, opacity = random.integers(0, 2**32, 500, np.uint32), random.integers(0, 257, 500).astype(np.uint32)
    channels = colours.view(np.uint8).reshape(-1, 4).astype(int) * opacity[:, None] // 256
    assert (stamps.thinned(colours, opacity).view(np.uint8).reshape(-1, 4) == channels).all()


def test_faded_ink_is_valid_premultiplied_and_comes_back():
    ink = int(stamps.faded("#A3ACBA"))
    alpha = ink >> 24
    assert alpha == stamps.DIMMED
    assert all((ink >> shift & 255) <= alpha for shift in (16, 8, 0))
    plain = QColor.fromRgba(stamps.unmultiplied(ink))
    assert abs(plain.red() - 0xA3) <= 6


# Outlines


def by_crossings(point, outline):
    """The even-odd rule, one edge after the other."""
    x, y = point
    odd = False
    for (x1, y1), (x2, y2) in zip(outline, np.roll(outline, -1, 0), strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            odd = not odd
    return odd


coordinate = st.integers(-100, 100)  # computed without rounding, also of points on an edge


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(coordinate, coordinate), min_size=0, max_size=30),
    st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=12),
)
def test_inside_follows_the_even_odd_rule(points, outline):
    points, outline = np.array(points, np.float64).reshape(-1, 2), np.array(outline, np.float64)
    assert inside(points, outline).tolist() == [by_crossings(point, outline) for point in points]


def test_an_outline_of_fewer_than_three_corners_holds_nothing():
    assert not inside(np.zeros((3, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])).any()


def test_points_that_are_no_numbers_lie_in_no_outline():
    points = np.array([[np.nan, 0], [0, np.inf], [0, 0]])
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float)
    assert inside(points, square).tolist() == [False, False, True]


# Colours and groups


def test_groups_count_every_point_once_and_queries_without_a_class_mate_stand_apart():
    data = data_of(
        np.zeros((5, 2)), [0, 0, 3, 3, 5], ap=[1.0, 0.25, 0.0, 0.999, np.nan], right=[True, True, False, True, False]
    )
    by_class, verdict, ap = (grouped(data, each, theme.LIGHT) for each in ("class", "verdict", "ap"))
    assert (by_class.names, by_class.counts.tolist()) == (["class 0", "class 3", "class 5"], [2, 2, 1])
    assert verdict.counts.tolist() == [3, 1, 1]
    assert verdict.crosses == {1}
    assert ap.counts.tolist() == [1, 1, 0, 0, 2, 1]
    assert len(verdict.colours) == len(verdict.names) == 3


def test_no_group_of_lonely_queries_where_there_are_none():
    data = data_of(np.zeros((2, 2)), [0, 0])
    assert grouped(data, "verdict", theme.LIGHT).names == ["✓ Right", "✗ Wrong"]
    assert len(grouped(data, "ap", theme.LIGHT).names) == 5


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("count", [1, 6, 7, 8, 50, 10_000])
def test_every_class_has_an_opaque_colour_and_neighbours_in_the_list_differ(count, dark):
    colours = class_colours(count, dark)
    assert len(colours) == count
    assert ((colours >> 24) == 0xFF).all()
    assert (colours[1:] != colours[:-1]).all()


def test_class_colours_agree_with_qt():
    ours = class_colours(100, False)
    for place in (0, 17, 99):
        theirs = QColor.fromHslF(place * 0.618034 % 1, 0.75, (0.45, 0.36, 0.55)[place % 3])
        mine = QColor.fromRgba(int(ours[place]))
        for channel in ("red", "green", "blue"):
            assert abs(getattr(mine, channel)() - getattr(theirs, channel)()) <= 1


# Canvas


def canvas_of(qtbot, data, colouring="class", size=(500, 400)):
    canvas = qtbot.addWidget(MapCanvas())
    canvas.resize(*size)
    canvas.show_data(data, grouped(data, colouring, theme.LIGHT), frozenset())
    canvas.show_look(Look(opacity=1.0, names=False))
    canvas.fit()
    with qtbot.waitExposed(canvas):
        canvas.show()
    canvas.fit()
    return canvas


@pytest.mark.parametrize("count", [1, 2, 14])
def test_few_points_are_all_in_view_and_can_be_hit(qtbot, count):
    angle = np.linspace(0, 6, count)
    canvas = canvas_of(qtbot, data_of(np.stack([np.cos(angle), np.sin(angle)], 1)))
    for row in range(count):
        place = canvas.place_of(row)
        assert canvas.rect().contains(place.toPoint())
        assert canvas.row_at(place + QPointF(2, -2)) == row
    assert canvas.row_at(QPointF(3, 3)) is None


def test_points_in_one_place_are_drawn_and_hit(qtbot):
    canvas = canvas_of(qtbot, data_of(np.full((14, 2), 3.5)))
    place = canvas.place_of(0).toPoint()
    assert canvas.rect().contains(place)
    assert canvas.row_at(QPointF(place)) is not None
    shown = canvas.grab().toImage()
    assert QColor(shown.pixel(place)) == QColor(OKABE_ITO[0])


def test_points_without_coordinates_are_neither_drawn_nor_hit(qtbot):
    canvas = canvas_of(qtbot, data_of([[0, 0], [np.nan, 1], [4, 4]]))
    assert drawn(canvas).tolist() == [True, False, True]
    assert np.isfinite([canvas.cloud.boundingRect().width(), canvas.cloud.boundingRect().height()]).all()


def test_an_empty_map_can_be_painted(qtbot):
    canvas = canvas_of(qtbot, data_of([[0, 0]]))
    canvas.clear()
    assert canvas.row_at(QPointF(250, 200)) is None
    assert not len(canvas.cloud.rows_in((-10, -10, 10, 10)))
    canvas.grab()


def test_hidden_groups_take_their_points_and_stars_away(qtbot):
    proxies = np.array([[0.0, 1.0], [3.0, 1.0]], np.float32)
    canvas = canvas_of(qtbot, data_of([[0, 0], [3, 0], [3, 3]], [0, 1, 1], proxies=proxies))
    canvas.set_hidden(frozenset({1}))
    assert drawn(canvas).tolist() == [True, False, False]
    assert canvas.marks.stars.tolist() == [[0.0, 1.0]]
    assert canvas.row_at(canvas.place_of(2)) is None
    canvas.show_look(Look(proxies=False))
    assert not len(canvas.marks.stars)


def test_unselected_points_are_dimmed(qtbot):
    canvas = canvas_of(qtbot, data_of([[0, 0], [4, 0]]))
    canvas.set_selected(np.array([True, False]))
    shown = canvas.grab().toImage()
    bright, dim = (QColor(shown.pixel(canvas.place_of(row).toPoint())) for row in (0, 1))
    assert bright == QColor(OKABE_ITO[0])
    assert dim.lightness() > 200


def test_the_picture_is_drawn_once_for_a_view(qtbot, monkeypatch):
    canvas = canvas_of(qtbot, data_of(np.random.default_rng(0).normal(size=(50, 2))))
    canvas.grab()
    drawn = []
    whole = stamps.painted
    monkeypatch.setattr(cloud, "painted", lambda *values: drawn.append(1) or whole(*values))
    canvas.marks.hover(3)
    canvas.grab()
    assert not drawn, "a ring must not draw all points again"
    canvas.box.translateBy(x=0.5)
    canvas.grab()
    assert len(drawn) == 1


@pytest.fixture
def crowd(qtbot, monkeypatch):
    """A canvas that takes 400 points for a crowd."""
    monkeypatch.setattr(cloud, "CROWD", 300)
    return canvas_of(qtbot, data_of(np.random.default_rng(0).normal(size=(400, 2)), np.arange(400) % 4))


def test_a_moved_crowd_is_stretched_and_drawn_anew_when_it_rests(qtbot, crowd, monkeypatch):
    crowd.viewport().repaint()
    drawn = []
    whole = stamps.density
    monkeypatch.setattr(cloud, "density", lambda *values: drawn.append(values[2]) or whole(*values))
    crowd.box.scaleBy([1.2, 1.2])
    crowd.viewport().repaint()
    assert not drawn
    qtbot.waitUntil(lambda: len(drawn) == 1)
    crowd.viewport().repaint()
    assert len(drawn) == 1
    crowd.box.scaleBy([0.5, 0.5])
    crowd.viewport().repaint()
    assert [max(size) for size in drawn[1:]] in ([], [cloud.WHOLE])


def test_a_stretched_picture_shows_points_where_they_are(crowd):
    crowd.viewport().repaint()
    for step in (0.8, 3, 1.3, 0.4):  # nearer, then so far that the last picture does not reach
        crowd.box.scaleBy([step, step])
        moved = ink_in(crowd)
        assert crowd.cloud.stretched, "stretched, not drawn"
        crowd.cloud.settle()
        still = ink_in(crowd)
        assert not (moved == still).all()
        assert np.corrcoef(moved.ravel(), still.ravel())[0, 1] > 0.8


def ink_in(canvas):
    """How dark the points make each square of 20 px; the note is as dark however faint they are, and left out."""
    canvas.note.hide()
    image = canvas.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    grey = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)[:, : image.width()].astype(float)
    return (255 - grey).reshape(20, 20, 25, 20).sum((1, 3))


def test_a_crowd_can_be_recoloured_hidden_and_selected(crowd):
    blue = QColor(OKABE_ITO[0])
    crowd.set_hidden(frozenset({1, 2, 3}))
    hidden = colours_in(crowd)
    crowd.set_selected(np.arange(400) == 8)
    assert crowd.cloud.drawn == 100
    assert blue.hue() in {QColor.fromRgb(each).hue() for each in hidden}
    place = crowd.place_of(8).toPoint()
    assert QColor(crowd.grab().toImage().pixel(place)).saturation() > 40
    crowd.set_selected(None)
    crowd.set_hidden(frozenset())
    assert crowd.cloud.drawn == 400


def colours_in(canvas):
    image = canvas.grab().toImage()
    return {image.pixel(x, y) for x in range(0, image.width()) for y in range(0, image.height(), 2)}


def test_a_caption_with_letters_that_no_xml_may_have_leaves_the_drawing_whole(crowd):
    drawing = map_files.svg(map_files.Sheet(map_files.on_paper(crowd, crowd.groups), "The\0 caption\ufffe"))
    words = [element.text for element in ElementTree.fromstring(drawing).iter() if element.text]
    assert "The caption" in words


def test_a_drawing_holds_shapes_up_to_a_limit_and_beyond_it_a_picture_and_says_so(crowd, monkeypatch):
    shapes = map_files.svg(map_files.Sheet(map_files.on_paper(crowd, crowd.groups), "The caption")).decode()
    assert "<image" not in shapes
    assert "too many for vector shapes" not in shapes
    for place in (cloud, map_files):
        monkeypatch.setattr(place, "SHAPES_UP_TO", 399)
    picture = map_files.svg(map_files.Sheet(map_files.on_paper(crowd, crowd.groups), "The caption")).decode()
    assert "<image" in picture
    assert "too many for vector shapes" in picture
    crowd.set_hidden(frozenset({1}))
    assert "<image" not in map_files.svg(map_files.Sheet(map_files.on_paper(crowd, crowd.groups), "")).decode(), (
        "300 are drawn"
    )


def test_points_are_drawn_larger_where_the_view_is_nearer_and_never_by_how_many_happen_to_be_in_view(qtbot):
    canvas = canvas_of(qtbot, data_of(np.random.default_rng(0).normal(size=(3_000, 2))))
    far = canvas.point_width
    canvas.box.translateBy(x=2.0, y=1.0)
    assert canvas.point_width == pytest.approx(far)
    canvas.box.scaleBy([0.1, 0.1])
    assert far == pytest.approx(diameter(3_000), abs=0.3)
    assert canvas.point_width > far + 1


@pytest.mark.parametrize("x", [5, 60, 150, 250, 340, 395])
@pytest.mark.parametrize("y", [4, 50, 150, 290])
def test_the_card_lies_beside_the_point_and_never_over_it(x, y):
    card, area = QSize(150, 190), QSize(400, 300)
    left, top = beside(QPointF(x, y), card, area)
    assert not (left <= x < left + card.width() and top <= y < top + card.height())
    assert left >= 0
    assert left + card.width() <= area.width() + GAP


def test_a_card_wider_than_both_sides_goes_above_or_below():
    card, area = QSize(150, 60), QSize(200, 300)
    for y in (40, 280):
        left, top = beside(QPointF(100, y), card, area)
        assert not (top <= y < top + card.height())
        assert 0 <= left <= area.width() - card.width()


def test_groups_of_ten_thousand_classes_are_made_in_a_moment():
    labels = np.arange(20_000) % 10_000
    groups = grouped(data_of(np.zeros((20_000, 2)), labels), "class", theme.LIGHT)
    assert isinstance(groups, Groups)
    assert len(groups.names) == 10_000
    assert (groups.counts == 2).all()


def test_the_card_goes_where_it_covers_the_least_of_the_lines():
    card, area, at = QSize(100, 80), QSize(600, 400), QPointF(300, 200)
    free = beside(at, card, area)
    assert free[0] > at.x()
    right = [QPointF(500, 200), QPointF(520, 190), QPointF(480, 230)]
    left, _ = beside(at, card, area, right)
    assert left + card.width() < at.x(), "the lines lead to the right"
    both = [*right, QPointF(100, 200), QPointF(80, 190)]
    left, top = beside(at, card, area, both)
    assert covered(at, both, QRectF(left, top, 100, 80)) == 0
    assert not (left <= at.x() < left + 100 and top <= at.y() < top + 80)


# Names of classes


def test_names_stand_at_the_centres_and_none_over_another(qtbot):
    places = np.array([(0, 0), (10, 0), (0.2, 0.1), (10, 10)], float)
    points = np.repeat(places, 20, axis=0) + np.random.default_rng(0).normal(scale=0.05, size=(80, 2))
    canvas = canvas_of(qtbot, data_of(points, np.repeat(np.arange(4), 20)))
    canvas.show_look(Look())
    canvas.grab()
    names = canvas.names.drawn
    canvas.grab()
    assert canvas.names.drawn is names, "they were placed again although nothing changed"
    assert sorted(name.text for name in names) == sorted(canvas.groups.names)
    for name in names:
        assert not any(name.box.intersects(other.box) for other in names if other is not name)
    alone = [name for name in names if name.text == canvas.groups.names[3]]
    assert alone[0].box.adjusted(-30, -30, 30, 30).contains(QPointF(*alone[0].centre)), "at its centre or beside it"
    canvas.set_hidden(frozenset({3}))
    canvas.grab()
    assert len(canvas.names.drawn) == 3
    canvas.show_look(Look(names=False))
    canvas.grab()
    assert not canvas.names.drawn


def test_a_colouring_that_is_not_of_classes_has_no_names(qtbot):
    canvas = canvas_of(qtbot, data_of(np.random.default_rng(0).normal(size=(40, 2))), "verdict")
    canvas.show_look(Look())
    canvas.grab()
    assert not canvas.names.drawn


def test_names_that_have_no_room_are_left_out():
    boxes = free_boxes(np.tile([[50.0, 50.0]], (60, 1)), [80.0] * 60, QRectF(0, 0, 200, 100))
    there = [box for box in boxes if box is not None]
    assert 1 <= len(there) < 60
    assert free_boxes(np.array([[-5.0, 20.0]]), [30.0], QRectF(0, 0, 100, 100)) == [None], "its points are out of view"


def test_no_name_stands_under_the_line_that_counts_the_points(qtbot):
    places = [(column, row) for column in range(9) for row in range(7)]
    points = np.repeat(np.array(places, float), 2, 0)
    data = data_of(points, np.repeat(np.arange(len(places)), 2) % 20)
    canvas = canvas_of(qtbot, data_of([[0.0, 0.0], [8.0, 6.0], [7.9, 5.9]], [0, 1, 1]))
    canvas.show_look(Look())
    canvas.look()
    assert not canvas.note.geometry().contains(canvas.place_of(1).toPoint()), "it stands in an empty corner"
    canvas.show_data(data, grouped(data, "class", theme.LIGHT))
    canvas.fit()
    canvas.look()
    canvas.grab()
    assert canvas.names.drawn
    assert not [name for name in canvas.names.drawn if name.box.intersects(QRectF(canvas.note.geometry()))]
    box, clear = QRectF(0, 0, 100, 60), QRectF(0, 0, 100, 40)
    (beside,) = free_boxes(np.array([[50.0, 45.0]]), [30.0], box, None, clear)
    assert beside is None or not beside.intersects(clear)


def test_a_name_stands_beside_a_small_cluster_and_on_a_large_one():
    random = np.random.default_rng(0)
    small, large = random.normal((150, 100), 5, (30, 2)), random.normal((400, 100), 30, (900, 2))
    places, group = np.concatenate([small, large]), np.repeat([0, 1], [30, 900])
    area = QRectF(0, 0, 600, 300)
    boxes = free_boxes(np.array([[150.0, 100.0], [400.0, 100.0]]), [24.0, 24.0], area, Cover(places, group, (600, 300)))
    assert not any(boxes[0].contains(x, y) for x, y in small.tolist()), "beside its points"
    assert boxes[1].contains(400, 100), "a part of a large cluster may be hidden"


def test_the_name_of_a_large_class_never_hides_a_small_one_that_lies_in_its_middle():
    random = np.random.default_rng(0)
    inner, outer = random.normal((200, 150), 4, (12, 2)), random.uniform((120, 70), (280, 230), (2000, 2))
    cover = Cover(np.concatenate([inner, outer]), np.repeat([0, 1], [12, 2000]), (400, 300))
    boxes = free_boxes(np.array([[200.0, 150.0]]), [30.0], QRectF(0, 0, 400, 300), cover)
    assert not any(boxes[0].contains(x, y) for x, y in inner.tolist())
    assert cover.hidden(180, 130, 40, 40) >= 1, "a whole cluster"
    assert cover.hidden(5, 5, 40, 20) == 0


def test_clusters_of_a_map_are_numbered_by_size():
    points = np.concatenate([np.full((3, 2), 0.0), np.full((5, 2), 10.0), [[np.nan, 0.0]]])
    for chosen, whole, numbers in (
        (points, points, [1] * 3 + [0] * 5 + [-1]),
        (points[:0], points, []),
        (points[:2], points[:2], [0, 0]),  # all in one place
    ):
        cells = cells_of(chosen, whole)
        assert clusters_in(cells.number, cells.shape).tolist() == numbers


# Size and opacity


def test_points_are_round_and_as_large_and_opaque_as_is_chosen(qtbot):
    canvas = canvas_of(qtbot, data_of([[0, 0], [1, 1]], [0, 0]))
    canvas.show_look(Look(size=2.0, opacity=1.0, names=False))
    wide, at = canvas.point_width, canvas.place_of(0)
    image = canvas.grab().toImage()
    ink, corner = QColor(OKABE_ITO[0]), 0.46 * wide
    assert image.pixelColor(at.toPoint()) == ink
    assert image.pixelColor((at + QPointF(corner, 0)).toPoint()) != image.pixelColor(2, 2)
    assert image.pixelColor((at + QPointF(corner, corner)).toPoint()) == image.pixelColor(2, 2), "a disc has no corners"
    canvas.show_look(Look(size=1.0, opacity=0.5, names=False))
    assert canvas.point_width == wide / 2
    pale = canvas.grab().toImage().pixelColor(at.toPoint())
    assert pale.lightness() > ink.lightness() + 40
    assert abs(pale.hue() - ink.hue()) < 6


def test_centres_of_classes_are_kept_while_others_are_hidden(qtbot, monkeypatch):
    data = data_of(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 6)
    canvas = canvas_of(qtbot, data)
    canvas.show_look(Look())
    monkeypatch.setattr(class_names, "centres_of", None, raising=False)
    canvas.set_hidden(frozenset({1}))
    canvas.grab()
    assert "class 1" not in {name.text for name in canvas.names.drawn}


def test_names_of_a_crowd_are_placed_in_the_turn_after_its_picture(qtbot, monkeypatch):
    monkeypatch.setattr(class_names, "AT_ONCE", 10)
    data = data_of(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2)
    canvas = canvas_of(qtbot, data)
    canvas.show_look(Look())
    canvas.viewport().repaint()
    assert not canvas.names.drawn
    qtbot.waitUntil(lambda: len(canvas.names.drawn) == 2)
    canvas.set_hidden(frozenset({1}))
    canvas.viewport().repaint()
    assert {name.text for name in canvas.names.drawn} <= {"class 0"}
    qtbot.waitUntil(lambda: len(canvas.names.drawn) == 1)
    canvas.fit()
    assert canvas.grab().size() == canvas.size()
    assert len(canvas.names.drawn) == 1, "a picture for a file has its names at once"


def test_a_crowd_is_placed_once_for_a_view(crowd, monkeypatch):
    crowd.viewport().repaint()
    placed = []
    monkeypatch.setattr(cloud, "CROWD", 200)
    find = cloud.placed
    monkeypatch.setattr(cloud, "placed", lambda *values: placed.append(1) or find(*values))
    crowd.set_selected(np.arange(400) < 100)
    crowd.viewport().repaint()
    crowd.set_hidden(frozenset({1}))
    crowd.viewport().repaint()
    assert placed == []


def test_names_that_differ_in_their_middle_alone_can_be_told_apart(qtbot):
    points = np.repeat(np.array([(0, 0), (10, 0), (10, 10)], float), 20, axis=0)
    names = tuple(f"an alphabet with a long name, character {word}, of one hand" for word in ("one", "two", "three"))
    data = replace(data_of(points, np.repeat(np.arange(3), 20)), class_names=names)
    canvas = canvas_of(qtbot, data)
    canvas.show_look(Look())
    canvas.grab()
    texts = [name.text for name in canvas.names.drawn]
    assert len(set(texts)) == len(texts) == 3
    assert not set(texts) & set(names), "they do not fit"


def test_names_are_placed_from_an_even_sample_of_very_many_points():
    places = np.random.default_rng(0).uniform(0, 300, (3 * MOST + 7, 2))
    group = np.arange(len(places)) % 5
    sample = evenly(np.arange(len(places)))
    assert len(sample) <= MOST
    assert np.ptp(np.diff(sample)) == 0
    assert np.array_equal(evenly(sample), sample)
    of_all, of_sample = (Cover(places[rows], group[rows], (300, 300)) for rows in (slice(None), sample))
    assert of_all.hidden(20, 20, 60, 20) == of_sample.hidden(20, 20, 60, 20) > 0
