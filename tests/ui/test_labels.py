"""Labels that shorten themselves."""

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QRect, QStringListModel
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetrics, QGuiApplication, Qt, QTextDocumentFragment
from PySide6.QtWidgets import QLabel, QMenu

from workbench.ui.pages.compare.style.word_table import WordTable
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.side.legend import Legend
from workbench.ui.widgets.images.neighbour_card import NeighbourCard
from workbench.ui.widgets.labels import MAY_BREAK, ElidedLabel, label, names_near, plain_tip, shortened
from workbench.workspace.rows import Neighbour

WORDS = "one two three four five six seven eight nine ten eleven twelve"


@pytest.fixture
def made(qtbot):
    def make(lines: int, width_of: str) -> ElidedLabel:
        label = qtbot.addWidget(ElidedLabel(WORDS, lines=lines))
        label.ensurePolished()
        label.resize(label.fontMetrics().horizontalAdvance(width_of) + 2, 40)
        label.setText(WORDS)  # hidden ones hear of their size later
        return label

    return make


def test_one_line_is_shortened_and_told_whole(made):
    label = made(1, "one two three four")
    (line,) = label.written()
    assert line.startswith("one two")
    assert line.endswith("…")
    assert label.toolTip() == WORDS


def test_two_lines_break_between_words(made):
    label = made(2, "one two three four five six seven eight")
    assert " ".join(label.written()) == WORDS
    assert len(label.written()) == 2
    assert label.toolTip() == ""
    assert label.sizeHint().height() > made(1, WORDS).sizeHint().height()


def test_the_last_of_two_lines_is_shortened(made):
    first, last = made(2, "one two three four").written()
    assert WORDS.startswith(first + " ")
    assert last.endswith("…")
    assert last.startswith(WORDS[len(first) + 1 :].split()[0])


def test_what_fits_is_one_line(made):
    label = made(2, WORDS)
    assert label.written() == [WORDS]
    assert label.toolTip() == ""


def test_as_many_lines_as_are_needed_have_their_height(made):
    label = made(2, "one two three four")
    label.set_lines(12, room_for="")
    assert " ".join(label.written()) == WORDS
    assert label.toolTip() == ""
    lines = "\n".join(label.written())
    needed = label.fontMetrics().boundingRect(QRect(0, 0, label.width(), 10_000), 0, lines).height()
    assert needed <= label.heightForWidth(label.width()) <= needed + 1
    assert label.heightForWidth(10_000) == label.sizeHint().height()
    label.setText("one")
    assert label.heightForWidth(label.width()) < needed
    label.set_lines(12, room_for=WORDS)
    assert label.written() == ["one"]
    assert needed <= label.heightForWidth(label.width()) <= needed + 1
    label.set_lines(2)
    assert not label.hasHeightForWidth()


def test_a_word_longer_than_the_line_ends_nowhere_else(qtbot):
    label = qtbot.addWidget(ElidedLabel("A" * 300, lines=3))
    label.resize(60, 60)
    assert len(label.written()) == 3
    assert label.written()[-1].endswith("…")
    label.resize(0, 60)
    assert len(label.written()) == 3


EVIL = '<img src="/etc/hostname"><b>bee</b> & co'


def seen(tip):
    """What a tooltip shows: Qt takes some of them for markup."""
    return QTextDocumentFragment.fromHtml(tip).toPlainText() if Qt.mightBeRichText(tip) else tip


@pytest.mark.parametrize("name", [EVIL, "a < b", "cat", "two\nlines <i>", "&lt;b>"])
def test_a_tooltip_shows_a_name_as_it_is(qapp, name):
    assert seen(plain_tip(name)) == name


def test_names_are_text_in_the_tooltips_of_legend_card_and_table(qtbot):
    legend, card, table = Legend(), NeighbourCard(), WordTable()
    for widget in (legend, card):
        qtbot.addWidget(widget)
    legend.show_groups(Groups(np.zeros(1, int), [EVIL], np.full(1, 0xFF112233, np.uint32)), frozenset())
    card.show_neighbour(Neighbour(1, 7, 0.5, True, 0, EVIL), True)
    table.show(["Setting", EVIL], [])
    tips = [
        legend.model.data(legend.model.index(0), Qt.ItemDataRole.ToolTipRole),
        card.toolTip(),
        table.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole),
    ]
    assert all(EVIL in seen(tip) for tip in tips)


def test_the_name_on_a_card_has_one_line(qtbot):
    pictures = []
    for name in ("two\nlines", "two lines"):
        card = qtbot.addWidget(NeighbourCard())
        card.resize(card.sizeHint())
        card.show_neighbour(Neighbour(1, 7, 0.5, True, 0, name), True)
        pictures.append(card.grab().toImage())
    assert pictures[0] == pictures[1]


def test_names_are_shortened_where_they_are_alike(qapp):
    metrics = QFontMetrics(QFont())
    names = [f"Omniglot, unseen characters, {loss}, seed 0" for loss in ("ArcFace", "CosFace", "AdaFace")]
    width = metrics.horizontalAdvance("Omniglot, unseen, seed 0")
    shown = [shortened(name, names, metrics, width) for name in names]
    assert len(set(shown)) == 3, "their middles differ"
    assert all(loss in text for loss, text in zip(("ArcFace", "CosFace", "AdaFace"), shown, strict=True))
    assert all(metrics.horizontalAdvance(text) <= width for text in shown)
    ends = [f"Sanskrit/character{number:02}" for number in range(40)]
    width = metrics.horizontalAdvance("Sanskrit/ch")
    assert len({shortened(name, ends, metrics, width) for name in ends}) == 40
    assert shortened("ant", ["bee"], metrics, width) == "ant"


def test_names_that_differ_in_two_places_are_told_apart_where_their_ends_have_room(qapp):
    metrics = QFontMetrics(QFont())
    names = [f"margin {margin}, scale {scale}, learning rate 1" for margin in (0.2, 0.4) for scale in (32, 64)]
    width = metrics.horizontalAdvance("…0.2, scale 32, learning rate 1")
    assert len({shortened(name, names, metrics, width) for name in names}) == 4
    assert shortened(names[0], names, metrics, 0) == "", "a control that is being laid out has no room"


def test_no_name_turns_round_the_sentence_of_a_label_or_a_tooltip(qtbot):
    turned = "class \u202egnp.exe (3)"
    elided = qtbot.addWidget(ElidedLabel(turned))
    for text in (elided.text(), label(turned).text(), plain_tip(turned)):
        assert text == "class \\u202egnp.exe (3)"


def test_a_name_with_line_breaks_stays_in_one_line(made):
    name = made(1, WORDS)
    height = name.sizeHint().height()
    name.setText("one\ntwo\r\n\tthree")
    assert name.written() == ["one two three"]
    assert name.sizeHint().height() == height


def test_a_name_that_fits_asks_for_no_other():
    asked = []

    class Asked(QStringListModel):
        def data(self, index, role=Qt.ItemDataRole.DisplayRole):
            asked.append(index.row())
            return super().data(index, role)

    rows = Asked(["ant", "bee"])
    assert shortened("ant", names_near(rows.index(0, 0)), QFontMetrics(QFont()), 1000) == "ant"
    assert asked == []
    assert list(names_near(rows.index(0, 0))) == ["ant", "bee"]


LONG = "abcdefghij" * 15


@pytest.mark.parametrize("selectable", [False, True])
def test_a_name_that_is_longer_than_a_line_is_broken_and_makes_nothing_wider(qtbot, selectable):
    wrapped = qtbot.addWidget(label(f"Nearest to {LONG} are others.", wrap=True))
    if selectable:
        wrapped.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    line = wrapped.fontMetrics().horizontalAdvance("a" * 20)
    assert wrapped.minimumSizeHint().width() < line
    assert wrapped.heightForWidth(line) > 6 * wrapped.fontMetrics().height()
    assert wrapped.text() == f"Nearest to {LONG} are others."


@pytest.mark.qt_log_ignore("does not support")
def test_a_long_name_is_copied_as_it_is(qtbot):
    wrapped = qtbot.addWidget(label(f"{LONG}.", wrap=True))
    wrapped.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    wrapped.show()
    place = wrapped.rect().center()
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, wrapped.mapToGlobal(place))
    QCoreApplication.sendEvent(wrapped, asked)
    menu = wrapped.findChild(QMenu)
    copy, select_all = menu.actions()
    assert not copy.isEnabled()
    select_all.trigger()
    assert wrapped.selectedText() == f"{LONG}."
    qtbot.keyClick(wrapped, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == f"{LONG}."
    menu.close()


def test_a_long_word_is_not_broken_between_a_letter_and_its_accents():
    accented = "e\u0301" * 40
    wrapped = label(accented, wrap=True)
    drawn = QLabel.text(wrapped)
    assert drawn.replace(MAY_BREAK, "") == accented
    assert MAY_BREAK in drawn
    assert f"{MAY_BREAK}\u0301" not in drawn


def test_rich_text_is_not_broken_within_its_tags(qtbot):
    made = qtbot.addWidget(label("", wrap=True))
    made.setTextFormat(Qt.TextFormat.RichText)
    made.setText("softmax(s·cosθ·exp(−d²)·ρ·ν)<sub>yy</sub>")
    assert QLabel.text(made) == made.text()
