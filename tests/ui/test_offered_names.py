"""The name of a model of timm: the form lists all of them with size and licence, searched by words."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from workbench.backbones.timm_models import SHORT_LIST
from workbench.entries import catalog
from workbench.entries.offered_models import offered_models
from workbench.ui.widgets.fields.editors import editor_of

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard")


@pytest.fixture
def model(qtbot):
    line = editor_of(catalog.current()["backbone/timm"]["params"]["model"])
    line.set_value("vit_small_patch16_224")
    qtbot.shown(line)
    line.setFocus()
    return line


def shown(line):
    rows = line.names.rows
    return [rows.index(row, 0).data() for row in range(rows.rowCount())]


def typed(line, text):
    line.selectAll()
    QTest.keyClicks(line, text)


def test_every_word_narrows_the_list(model):
    typed(model, "dinov2 small")
    assert model.names.list.isVisible()
    assert "vit_small_patch14_dinov2.lvd142m" in shown(model)
    assert all("dinov2" in name and "small" in name for name in shown(model))


def test_a_licence_is_a_word_to_search_by(model):
    typed(model, "convnext cc-by-nc")
    licences = {model.names.rows.index(row, 4).data() for row in range(model.names.rows.rowCount())}
    assert licences == {"cc-by-nc-4.0"}


def test_a_row_says_parameters_image_features_and_licence(model):
    typed(model, "vit_small_patch16_224.dino")
    cells = [model.names.rows.index(0, column).data() for column in range(5)]
    assert cells == ["vit_small_patch16_224.dino", "21.7\u202fM", "224\u202fpx", "384", "apache-2.0"]


def test_a_single_row_is_seen_below_the_titles(model):
    typed(model, "vit_small_patch14_reg4_dinov2.lvd")
    assert len(shown(model)) == 1
    names = model.names.list
    assert names.viewport().height() >= names.rowHeight(0)


def test_a_chosen_row_is_the_value(model, qtbot):
    typed(model, "vit_small_patch16_224.dino")
    with qtbot.waitSignal(model.edited):
        QTest.keyClick(model.names.list, Qt.Key.Key_Down)
        QTest.keyClick(model.names.list, Qt.Key.Key_Return)
    assert model.value() == "vit_small_patch16_224.dino"
    assert not model.names.list.isVisible()


def test_a_row_that_the_arrows_write_into_the_line_is_said_before_return(model):
    typed(model, "vit tiny")
    values = []
    model.edited.connect(lambda: values.append(model.value()))
    QTest.keyClick(model.names.list, Qt.Key.Key_Down)
    assert values == [shown(model)[0]]


def test_names_that_begin_with_the_first_word_come_first(model):
    typed(model, "vit tiny")
    assert "convit_tiny" in shown(model)
    assert shown(model)[0] == "vit_tiny_patch16_224"


def test_without_a_match_there_is_no_list_and_the_text_stays(model):
    typed(model, "my_own_network")
    assert not model.names.list.isVisible()
    assert model.value() == "my_own_network"


def test_down_lists_all_models_the_short_list_first(model):
    QTest.keyClick(model, Qt.Key.Key_Down)
    assert model.names.list.isVisible()
    assert tuple(shown(model)[: len(SHORT_LIST)]) == SHORT_LIST
    assert len(shown(model)) == len(offered_models("timm_models")) > 3000


def test_columns_of_numbers_have_room_for_every_model_and_names_have_the_most(model):
    QTest.keyClick(model, Qt.Key.Key_Down)
    rows, names = model.names.rows, model.names.list
    header, metrics = names.horizontalHeader(), names.fontMetrics()
    wide = [header.sectionSize(column) for column in range(1, header.count())]
    for column in (1, 2, 3):
        widest = max(metrics.horizontalAdvance(rows.index(row, column).data()) for row in range(rows.rowCount()))
        assert wide[column - 1] > max(widest, header.sectionSizeHint(column) - 1)
    assert header.sectionSize(0) > max(wide)
    typed(model, "vit tiny")
    assert [header.sectionSize(column) for column in range(1, header.count())] == wide


def test_a_name_and_a_licence_that_are_shortened_are_whole_in_their_tooltips(model):
    typed(model, "fair-noncommercial-research-license")
    tips = [model.names.rows.index(0, column).data(Qt.ItemDataRole.ToolTipRole) for column in range(5)]
    assert shown(model)[0] in tips[0]
    assert "fair-noncommercial-research-license" in tips[4]
    assert tips[1:4] == [None, None, None]
