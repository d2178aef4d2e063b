"""A form with several fields in a line: cells, room, what is wrong below, the order of the keys."""

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from tests.ui.test_form import Example
from workbench.ui.pages.setup.form.essentials import cell_of, room
from workbench.ui.widgets.field_row import GAP
from workbench.ui.widgets.form import Cell, ParamsForm

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show
FIELDS = Example.model_json_schema()["properties"]


@pytest.fixture
def form(qtbot):
    cells = {"folder": Cell((12, 12, 12, 12)), "mine": Cell((3, 4, 6, 12), begins=True)}
    made = qtbot.addWidget(ParamsForm(FIELDS, cell_of=lambda name, field: cells.get(name, Cell((3, 4, 6, 12)))))
    made.resize(640, 300)
    made.show()
    made.layout().activate()
    return made


def box(form, part):
    return QRect(part.mapTo(form, QPoint()), part.size())


def tops(form):
    form.layout().activate()
    return {name: box(form, form.row(name)).top() for name in form.names()}


def test_fields_share_a_line_until_it_is_full_or_another_begins(form):
    top = tops(form)
    assert top["margin"] == top["images"] < top["mine"] < top["folder"]
    assert box(form, form.row("margin")).right() < box(form, form.row("images")).left()
    assert form.row("folder").width() == form.width()
    assert box(form, form.row("images").widget).left() - box(form, form.row("margin").widget).right() > GAP


@pytest.mark.parametrize(("chosen", "share"), [(0, 3), (1, 4), (2, 6), (3, 12)])
def test_cells_are_wider_where_there_is_less_room(form, chosen, share):
    form.set_room(chosen)
    form.layout().activate()
    whole = form.width() + GAP
    assert abs(form.row("margin").widget.width() + GAP - whole * share / 12) < 3
    assert abs(form.row("margin").widget.width() - form.row("mine").widget.width()) < 3


def test_what_is_wrong_has_a_line_of_its_own_that_names_the_field(form):
    before = tops(form)["mine"]
    form.show_errors({"images": "Must be a whole number.", "margin": "Must be more than 0."})
    form.layout().activate()
    wrong, other = form.row("images"), form.row("margin")
    for row in (wrong, other):
        assert row.error.isVisibleTo(form)
        assert box(form, row.trouble).top() >= box(form, row).bottom()
        assert row.trouble.width() == form.width()
    assert box(form, wrong.trouble).top() > box(form, other.trouble).top()
    assert wrong.trouble.findChildren(QLabel)[0].text() == "Images per class:"
    assert tops(form)["mine"] > before
    form.show_errors({})
    assert tops(form)["mine"] == before


def test_an_error_stays_in_sight_while_its_field_is_edited(form):
    form.changed.connect(lambda: form.set_fields(FIELDS) or form.show_errors({"images": "Must be a whole number."}))
    QTest.keyClicks(form.row("images").widget, "abc")
    assert form.row("images").error.isVisibleTo(form)


def test_the_button_that_mends_follows_its_field_and_goes_with_it(form):
    pressed = []
    form.show_errors({"margin": "Too large."}, {"margin": ("Use 1", lambda: pressed.append(1))})
    margin = form.row("margin")
    margin.fix.click()
    assert pressed == [1]
    order = form.children()
    assert order.index(margin) < order.index(margin.trouble) < order.index(form.row("images"))
    trouble = margin.trouble
    form.set_fields({"images": FIELDS["images"]})
    assert trouble.parent() is None


def test_titles_change_their_mark_without_moving_the_editor_down(form):
    before = box(form, form.row("images").widget)
    assert not form.row("images").reset.isVisibleTo(form)
    form.row("images").editor.set_value(8)
    form.mark_changed({"images": 4})
    form.layout().activate()
    after = box(form, form.row("images").widget)
    assert (after.top(), after.left()) == (before.top(), before.left())
    assert form.row("images").reset.isVisibleTo(form)
    form.mark_changed({"images": 8})
    assert not form.row("images").reset.isVisibleTo(form)


def test_the_words_beside_a_title_stay_whole_once_its_field_is_changed(form, qtbot):
    form.show_asides({"margin": "2,800 steps"})
    row = form.row("margin")
    qtbot.waitUntil(lambda: row.aside.width() > 0)
    before = row.aside.width()
    row.editor.set_value(0.25)
    form.mark_changed({"margin": 0.5})
    QApplication.processEvents()
    assert row.reset.isVisibleTo(form)
    assert row.aside.width() == before


def test_essentials_choose_their_cells_by_path_and_kind():
    number, choice = {"type": "number"}, {"type": "string", "enum": ["a", "b"]}
    assert cell_of("loss.scale", number).spans == (3, 4, 6, 12)
    assert cell_of("loss.reduction", choice).spans == (6, 6, 12, 12)
    assert cell_of("loss.name", choice).spans == cell_of("dataset.folder", {"type": "string", "path": "folder"}).spans
    assert [room(width) for width in (600, 450, 300, 200)] == [0, 1, 2, 3]


@pytest.mark.parametrize(("count", "shares"), [(2, [3, 3]), (3, [4, 4, 4]), (4, [3] * 4), (7, [3] * 7)])
def test_three_fields_fill_their_line_and_the_rest_of_more_stands_below_them(qtbot, count, shares):
    fields = {f"field {number}": FIELDS["margin"] for number in range(count)}
    made = qtbot.addWidget(ParamsForm(fields, cell_of=lambda name, field: Cell((3, 4, 6, 12))))
    made.resize(640, 300)
    made.show()
    made.layout().activate()
    whole = made.width() + GAP
    assert [round(12 * (made.row(name).widget.width() + GAP) / whole) for name in made.names()] == shares
