"""The choice of an axis lists classes when they can be chosen, and keeps what was chosen."""

from workbench.projection.axes import COMPONENT, MEANS, Direction
from workbench.ui.pages.map.making.axis_editor import AxisEditor

CLASSES = [(4, "four"), (5, "five"), (9, "nine")]


def choose_kind(editor: AxisEditor, kind: str) -> None:
    editor.kind.setCurrentIndex(editor.kind.findData(kind))
    editor.kind.activated.emit(editor.kind.currentIndex())


def words(editor: AxisEditor) -> list[str]:
    return [editor.first.itemText(at) for at in range(editor.first.count())]


def test_classes_are_listed_once_an_axis_has_ends(qtbot):
    editor = qtbot.addWidget(AxisEditor("Across"))
    editor.offer(CLASSES, proxies=False)
    assert words(editor) == []  # of tens of thousands of classes this took 0.3 s on the window's thread
    choose_kind(editor, MEANS)
    assert words(editor) == ["four", "five", "nine"]
    assert editor.direction == Direction(MEANS, 4, 5)


def test_chosen_ends_stay_while_a_component_is_shown(qtbot):
    editor = qtbot.addWidget(AxisEditor("Across"))
    editor.offer(CLASSES, proxies=False)
    editor.show_direction(Direction(MEANS, 9, 4))
    choose_kind(editor, COMPONENT)
    choose_kind(editor, MEANS)
    assert editor.direction == Direction(MEANS, 9, 4)
    choose_kind(editor, COMPONENT)
    editor.offer(CLASSES[:2], proxies=False)
    choose_kind(editor, MEANS)
    assert words(editor) == ["four", "five"]
    assert editor.direction == Direction(MEANS, 4, 5)
