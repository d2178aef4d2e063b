"""Boxes with many entries: the list has groups and is searched by words."""

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench.entries import catalog
from workbench.settings.presets import presets
from workbench.ui.pages.setup.form.preset_chooser import PresetChooser
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.style import theme
from workbench.ui.widgets.fields.choice_row import ASIDE_ROLE, FORMULA_ROLE, NOTE_ROLE
from workbench.ui.widgets.fields.editors import editor_of
from workbench.ui.widgets.fields.search_popup import ROW_ROLE, WIDEST, SearchPopup, beside

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard")


@pytest.fixture
def losses(qtbot):
    draft = Draft(catalog.current(), presets()[0].config)
    box = editor_of(draft.essential()["loss.name"])
    box.setAccessibleName("Loss")
    box.set_value("ce")
    return qtbot.shown(box)


def opened(box):
    box.showPopup()
    popup = QApplication.activePopupWidget()
    assert isinstance(popup, SearchPopup)
    return popup


def lines(popup):
    return [popup.list.item(row).text() for row in range(popup.list.count())]


def test_losses_stand_in_groups(losses):
    shown = lines(opened(losses))
    heading = shown.index("Pairs and triplets")
    assert shown[0] == "Classification"
    assert "Cross-entropy (CE)" in shown[:heading]
    assert "Triplet" in shown[heading:]


def test_each_loss_says_its_formula_and_what_it_needs(losses):
    popup = opened(losses)
    rows = [popup.list.item(row) for row in range(popup.list.count())]
    said = {
        item.text(): (item.data(FORMULA_ROLE), item.data(ASIDE_ROLE))
        for item in rows
        if item.data(ROW_ROLE) is not None
    }
    assert said["Cross-entropy (CE)"] == ("mean −log softmax_y(W z + b)", "any batch")
    assert said["Triplet"] == ("mean max(0, D_ap² − D_an² + α)", "needs several images of a class")
    assert all(formula for formula, _ in said.values())
    QTest.keyClicks(popup.line, "any batch proxy")
    assert "ProxyNCA++" in lines(popup)
    assert "Triplet" not in lines(popup)


def test_words_find_an_entry_and_return_takes_it(losses, qtbot):
    popup = opened(losses)
    QTest.keyClicks(popup.line, "several triplet")
    assert lines(popup)[0] == "Pairs and triplets"
    assert "Triplet" in lines(popup)
    popup.line.clear()
    QTest.keyClicks(popup.line, "instance")
    with qtbot.waitSignal(losses.edited):
        QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert losses.value() == "ice"


def test_arrows_pass_over_headings(losses):
    popup = opened(losses)
    QTest.keyClicks(popup.line, "a")
    for _ in range(popup.list.count()):
        assert popup.list.currentItem().data(Qt.ItemDataRole.UserRole) is not None
        QTest.keyClick(popup.line, Qt.Key.Key_Down)


def test_presets_of_papers_have_a_heading(qtbot):
    chooser = qtbot.addWidget(PresetChooser())
    chooser.show()
    shown = lines(opened(chooser))
    assert shown[:2] == ["Samples", "Sample: Digits"]
    assert "Papers" in shown


def test_presets_say_their_loss_and_whether_their_data_is_found(qtbot):
    chooser = qtbot.addWidget(PresetChooser())
    chooser.learn(catalog.current())
    row = {chooser.itemText(row): row for row in range(chooser.count())}
    mnist = row["Paper: MNIST, CE against SPCE (Fig. 1)"]
    assert chooser.itemData(row["Sample: Digits"], ASIDE_ROLE) == "data included"
    assert chooser.itemData(mnist, NOTE_ROLE).startswith("Cross-entropy (CE). CE and SPCE meet")
    assert chooser.itemData(mnist, ASIDE_ROLE) == "data not found"
    chooser.show_found({"mnist": ["/data/mnist"]})
    assert chooser.itemData(mnist, ASIDE_ROLE) == "data found"


@pytest.mark.parametrize("title", ["Triplet", "Contrastive"])
def test_return_takes_the_loss_whose_title_was_typed(losses, title):
    """Not one before it whose group, or longer title, has the words, too."""
    popup = opened(losses)
    QTest.keyClicks(popup.line, title.lower())
    assert len(lines(popup)) > 2, "the words of this case stand in several entries"
    QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert losses.currentText() == title


def test_the_list_is_whole_on_the_screen(losses):
    room = losses.screen().availableGeometry()
    for place in (room.topLeft(), room.bottomLeft() - QPoint(0, 60), room.bottomRight() - QPoint(60, 60)):
        losses.move(place)
        popup = opened(losses)
        assert room.contains(popup.geometry())
        assert not popup.geometry().intersects(QRect(losses.mapToGlobal(QPoint(0, 0)), losses.size()))
        popup.close()


@pytest.mark.parametrize(("y", "height", "top"), [(100, 300, 130), (500, 300, 200), (300, 400, 200), (10, 900, 0)])
def test_the_list_is_below_its_box_or_above_or_over_it(y, height, top):
    placed = beside(QRect(700, y, 80, 30), QSize(320, height), QRect(0, 0, 800, 600))
    assert (placed.top(), placed.left(), placed.height()) == (top, 480, min(height, 600))


def test_a_list_with_words_beside_its_entries_grows_with_the_text_and_the_box(large, losses):
    room = losses.screen().availableGeometry().width()
    assert opened(losses).width() == min(theme.text_px(WIDEST), room) > WIDEST
    large.theme.set_text_size(100)
    QApplication.activePopupWidget().close()
    losses.setFixedWidth(WIDEST + 40)
    assert opened(losses).width() == WIDEST + 40


def test_a_formula_that_is_wider_than_the_list_goes_on_in_the_next_line(large, losses, qtbot):
    popup = opened(losses)
    longest, short = (popup.list.findItems(title, Qt.MatchFlag.MatchExactly)[0] for title in ("AdaFace", "Triplet"))
    heights = []
    for width in (2000, 700, 400):
        popup.resize(width, popup.height())
        qtbot.waitUntil(lambda room=width: room - 60 < popup.list.visualItemRect(longest).width() < room)
        heights.append(popup.list.visualItemRect(longest).height())
    assert heights[0] == popup.list.visualItemRect(short).height()
    assert heights == sorted(set(heights)), "each more lines than the one before"
