"""Forms drawn from descriptions: defaults, ranges, help; wrong values stay, to be explained; drops and browsing."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QToolTip,
)

from tests.ui.seen import Counted
from workbench.params import Params, param
from workbench.ui.style import theme
from workbench.ui.style.field_words import help_lines, range_of, tooltip
from workbench.ui.widgets.fields.editors import ChoiceEditor, PathEditor
from workbench.ui.widgets.fields.path_line import PathLine
from workbench.ui.widgets.fields.typed_word import TypedWord
from workbench.ui.widgets.form import ParamsForm

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


class Example(Params):
    margin: float = param(0.5, gt=0, le=2, symbol="m", help="How far <b>apart</b>.")
    images: int = param(4, ge=2, unit="images", help="Images of one class.", label="Images per class")
    mine: bool = param(False, help="Choose hard pairs.")
    folder: str = param("", help="Where the images are.", path="folder")


@pytest.fixture
def fields():
    chosen = {"enum": ["cosine", "l2"], "default": "cosine", "type": "string", "description": "How near."}
    return {**Example.model_json_schema()["properties"], "distance": chosen}


@pytest.fixture
def form(qtbot, fields):
    made = qtbot.addWidget(ParamsForm(fields, recents=["/data/one"]))
    made.show()
    return made


def typed(form, name, text):
    editor = form.row(name).widget
    editor.selectAll()
    QTest.keyClicks(editor, text)


def test_holds_defaults_ranges_help_units_and_symbols(form, fields):
    assert form.values() == {"margin": 0.5, "images": 4, "mine": False, "folder": "", "distance": "cosine"}
    assert range_of(fields["margin"]) == "more than 0 and at most 2"
    assert help_lines(fields["images"]) == ["Images of one class.", "Range: at least 2 images.", "Default: 4 images."]
    margin = form.findChild(QLineEdit, "margin")
    assert "&lt;b&gt;apart&lt;/b&gt;" in margin.toolTip(), "help is text, never markup"
    assert "In the paper: m." in form.row("margin").help.toolTip()
    assert form.findChild(QLineEdit, "images").accessibleName() == "Images per class, images"
    assert isinstance(form.findChild(QComboBox, "distance"), QComboBox)
    assert isinstance(form.findChild(QCheckBox, "mine"), QCheckBox)


@pytest.mark.parametrize(
    ("default", "unit", "words"),
    [(1, "epochs", "1 epoch"), (2, "epochs", "2 epochs"), (1, "per class", "1 per class"), (1, "s", "1 s")],
)
def test_one_of_a_unit_is_not_written_as_several(default, unit, words):
    assert help_lines({"type": "integer", "default": default, "unit": unit}) == [f"Default: {words}."]


def test_fields_with_and_without_a_unit_end_in_one_line(qtbot):
    fields = {name: {"type": "integer", "default": 1, "description": "A number.", "unit": unit}
              for name, unit in (("bare", ""), ("with_unit", "images"))}  # fmt: skip
    made = qtbot.shown(ParamsForm(fields), 600, 200)
    ends = {made.row(name).widget.mapTo(made, made.row(name).widget.rect().topRight()).x() for name in fields}
    assert len(ends) == 1


@pytest.mark.parametrize(("text", "value"), [("7.5", 7.5), ("1e-3", 0.001), ("abc", "abc"), ("-1", -1.0)])
def test_a_value_is_taken_as_typed_and_never_clamped(form, qtbot, text, value):
    with qtbot.waitSignal(form.changed) as caught:
        typed(form, "margin", text)
    assert caught.args[0] == "margin"
    assert form.values()["margin"] == value


def test_setting_values_is_not_an_edit(form, qtbot):
    with qtbot.assertNotEmitted(form.changed):
        form.set_values({"margin": 1.5, "mine": True, "distance": "l2", "folder": "/x", "images": 9})
    assert form.values() == {"margin": 1.5, "images": 9, "mine": True, "folder": "/x", "distance": "l2"}


@pytest.mark.qt_log_ignore("propagateSizeHints", "raise", extend=True)  # Qt's offscreen platform, at every tip
@pytest.mark.parametrize("name", ["margin", "mine", "folder", "distance"])
def test_help_is_told_by_a_key_in_the_field_and_its_button_is_no_stop(form, qtbot, fields, name):
    form.activateWindow()
    row = form.row(name)
    row.widget.setFocus()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: QToolTip.text() == "")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    assert QToolTip.text() == tooltip(fields[name])
    assert row.help.focusPolicy() == Qt.FocusPolicy.ClickFocus
    assert "Shift+F1" in row.help.toolTip()
    assert QApplication.focusWidget().accessibleDescription() == " ".join(help_lines(fields[name]))
    QToolTip.hideText()


def test_errors_stand_under_their_field_and_go_away(form):
    form.show_errors({"margin": "Must be more than 0."})
    row = form.row("margin")
    assert row.error.isVisible()
    assert row.error.text() == "Must be more than 0."
    assert row.widget.property("state") == "error"
    assert not form.row("images").error.isVisible()
    form.show_errors({})
    assert not row.error.isVisible()
    assert row.widget.property("state") == ""


def test_what_one_may_regret_is_no_error(form):
    form.show_errors({"margin": "Must be more than 0."}, warnings={"margin": "Unusual.", "images": "Unusual."})
    margin, images = form.row("margin"), form.row("images")
    assert [each.error.text() for each in (margin, images)] == ["Must be more than 0.", "Unusual."]
    assert [each.error.property("role") for each in (margin, images)] == ["error", "warning"]
    assert [each.widget.property("state") for each in (margin, images)] == ["error", ""]


def test_a_fix_is_one_click(form):
    done = []
    form.show_errors({"mine": "Impossible."}, {"mine": ("Turn off", lambda: done.append(1))})
    assert form.row("mine").fix.text() == "Turn off"
    form.row("mine").fix.click()
    assert done == [1]


def test_changed_fields_carry_a_dot_and_a_reset_arrow(form, qtbot):
    form.set_values({"margin": 0.7})
    form.mark_changed({"margin": 0.5, "images": 4, "mine": False, "folder": "", "distance": "cosine"})
    row = form.row("margin")
    assert (row.dot.text(), row.reset.isVisible()) == ("●", True)
    assert "0.5" in row.reset.toolTip()
    assert form.row("images").dot.text() == ""
    assert not form.row("images").reset.isVisible()
    with qtbot.waitSignal(form.reset_asked) as caught:
        row.reset.click()
    assert caught.args == ["margin"]


def test_rows_that_stay_keep_their_editor(form, fields):
    before = form.row("images").widget
    form.set_fields({"images": fields["images"], "distance": fields["distance"]})
    assert form.names() == ["images", "distance"]
    assert form.row("images").widget is before
    assert form.findChild(QLineEdit, "margin") is None


def test_rows_that_stay_are_not_laid_out_again_and_those_in_another_order_are(form, fields, qtbot):
    qtbot.deliver()
    layouts = Counted(form, QEvent.Type.LayoutRequest)
    form.set_fields(fields)
    qtbot.deliver()
    assert layouts.count == 0
    form.set_fields(dict(reversed(fields.items())))
    qtbot.waitUntil(lambda: form.row("margin").y() > form.row("distance").y())


def test_labels_stand_above_their_editors_in_a_narrow_form(form):
    form.resize(600, 300)
    form.set_labels_above(True)
    form.layout().activate()
    margin = form.row("margin")
    margin.layout().activate()
    title = next(words for words in margin.findChildren(QLabel) if words.buddy() is margin.widget)

    def box(part):
        return QRect(part.mapTo(margin, QPoint()), part.size())

    assert box(title).bottom() < box(margin.widget).top()
    form.set_labels_above(False)
    margin.layout().activate()
    assert box(title).right() < box(margin.widget).left()
    assert box(title).top() < box(margin.widget).bottom()


def test_a_folder_is_dropped_browsed_and_recent(form, qtbot, tmp_path, monkeypatch):
    editor = form.row("folder").widget
    assert isinstance(editor, PathEditor)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    drop = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier(0))
    with qtbot.waitSignal(form.changed) as caught:
        editor.dropEvent(drop)
    assert caught.args == ["folder", str(tmp_path)]

    chosen = str(tmp_path / "other")
    monkeypatch.setattr("workbench.ui.widgets.fields.editors.QFileDialog.getExistingDirectory", lambda *args: chosen)
    with qtbot.waitSignal(form.changed):
        editor.browse.click()
    assert form.values()["folder"] == chosen
    line = editor.findChild(QLineEdit)
    path = "/data" + 20 * "/photographs of last summer" + "/animals"  # wider than a line in any style
    form.row("folder").widget.setFixedWidth(320)
    editor.set_value(path)
    qtbot.waitUntil(lambda: line.width() < 320)
    assert line.written().startswith("…"), "a path says most at its end"
    assert line.written().endswith("/animals")
    assert form.values()["folder"] == path
    recent = editor.findChild(QComboBox)
    assert [recent.itemText(row) for row in range(recent.count())] == ["/data/one"]


def test_the_wheel_does_not_change_a_choice(form, qtbot):
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    box = form.findChild(QComboBox, "distance")
    box.setFocus()
    wheel = QWheelEvent(
        QPointF(3, 3), QPointF(3, 3), QPoint(0, -120), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier(0), Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(box, wheel)
    assert box.currentData() == "cosine"


def test_a_path_stands_within_its_box(session, qtbot):
    session.theme.apply()
    editor = qtbot.addWidget(PathEditor("file", []))
    editor.show()
    line = editor.findChild(PathLine)
    qtbot.waitUntil(lambda: line.height() > 0)
    assert editor.findChild(QComboBox).rect().contains(line.geometry()), "letters are cut at the edge of the box"
    assert line.palette().placeholderText().color() == QColor(theme.current().muted), "its hint is too faint"


def test_a_path_below_the_home_folder_begins_with_a_tilde_until_it_is_edited(qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    line = qtbot.addWidget(PathLine(str(tmp_path / "lab" / "photographs")))
    line.resize(600, 30)
    assert line.written() == str(Path("~") / "lab" / "photographs")
    assert line.text() == str(tmp_path / "lab" / "photographs")


def test_a_title_without_room_ends_in_dots_and_is_whole_in_the_tooltip(qtbot, monkeypatch):
    shown = []
    monkeypatch.setattr(QToolTip, "showText", lambda place, words, widget: shown.append(words))
    editor = qtbot.addWidget(ChoiceEditor(["ce", "b"], ["Cross-entropy (CE)", "B"]))
    editor.resize(editor.fontMetrics().horizontalAdvance("Cross-entropy") + 30, 30)
    editor.show()
    ask = QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(editor, ask)
    assert editor.written().endswith("…")
    assert shown == ["Cross-entropy (CE)"]
    before = editor.grab().toImage()
    editor.resize(400, 30)
    assert editor.written() == "Cross-entropy (CE)"
    assert before != editor.grab().toImage()
    QApplication.sendEvent(editor, ask)
    assert len(shown) == 1


def test_a_field_that_differs_in_its_help_alone_keeps_its_row(qtbot):
    form = ParamsForm(
        {"rate": {"type": "number", "default": 0.5, "minimum": 0, "description": "Of CE.", "source": "A"}}
    )
    qtbot.addWidget(form)
    row = form.row("rate")
    row.editor.set_value(0.7)
    form.set_fields({"rate": {"type": "number", "default": 0.5, "maximum": 1, "description": "Of ICE.", "source": "B"}})
    assert form.row("rate") is row
    assert row.editor.value() == 0.7
    for words in (row.widget.toolTip(), row.help.toolTip(), row.widget.accessibleDescription()):
        assert "Of ICE." in words
        assert "Range: at most 1." in words
        assert "Source: B" in words
    form.set_fields({"rate": {"type": "number", "default": 0.2}})
    assert form.row("rate") is row
    assert row.editor.value() == 0.2, "another default"


def test_a_field_that_is_made_anew_while_it_has_the_focus_has_it_again(qtbot):
    first = {"size": {"type": "int", "default": 1}, "rate": {"type": "float", "default": 0.5}}
    form = qtbot.addWidget(ParamsForm(first))
    form.show()
    form.row("rate").widget.setFocus()
    before = form.row("rate")
    form.set_fields({"size": first["size"], "rate": {"type": "float", "default": 0.1, "symbol": "r"}})
    assert form.row("rate") is not before
    assert form.window().focusWidget() is form.row("rate").widget


def test_a_word_typed_at_a_closed_choice_chooses_it_though_each_letter_makes_the_field_anew(qtbot):
    titles = ["CIFAR-10", "Fashion-MNIST", "Folder of images", "Omniglot", "Folder in folders"]

    def described(chosen):
        return {"data": {"type": "string", "enum": titles, "default": titles[0], "symbol": chosen}}

    form = qtbot.addWidget(ParamsForm(described(titles[0])))
    form.show()

    def draw_anew(name, value):
        form.set_fields(described(value))
        form.set_values({name: value})

    form.changed.connect(draw_anew)
    form.row("data").widget.setFocus()
    for letter in "folder o":
        qtbot.keyClicks(form.window().focusWidget(), letter)
    assert form.values() == {"data": "Folder of images"}


def test_letters_after_a_pause_begin_another_word():
    word, titles = TypedWord(), ["Apple", "Banana", "Blackberry", "Lemon"]
    word.add("b", 0, 400)
    assert word.row(titles, 0) == 1
    word.add("b", 100, 400)  # the same letter again: the next one
    assert word.row(titles, 1) == 2
    word.add("l", 900, 400)
    assert word.row(titles, 2) == 3
    word.add("x", 1000, 400)
    assert word.row(titles, 3) is None


def test_a_row_that_is_taken_away_in_the_turn_in_which_it_came_does_not_become_a_window(form, fields):
    form.set_fields({**fields, "late": fields["margin"]})
    row = form.row("late")
    form.set_fields(fields)
    QApplication.sendPostedEvents(None, QEvent.Type.MetaCall.value)  # with which Qt shows what a layout was given
    assert not row.isVisible()
