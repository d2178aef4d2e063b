"""The menu of an image: copy it or its path, open its file or folder."""

import pytest
from PySide6.QtCore import QPoint, QUrl
from PySide6.QtGui import QColor, QContextMenuEvent, QDesktopServices, QGuiApplication, QPixmap
from PySide6.QtWidgets import QApplication

from tests.ui.browsed import at_rest, open_page, open_trained
from tests.ui.seen import pictured
from tests.ui.trained import trained_run
from workbench.ui.widgets.images.image_menu import ImageMenu

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard")
RED = QColor(200, 30, 30)


@pytest.fixture
def opened(monkeypatch):
    """What the desktop was asked to open."""
    urls: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", urls.append)
    return urls


@pytest.fixture
def files(tmp_path):
    """The folder of the images."""
    return tmp_path / "images"


@pytest.fixture
def page(qtbot, session, workspace, tmp_path, files):
    """Retrieval with a run whose images are files of 40 x 24 px."""
    run_id = trained_run(workspace, tmp_path / "cache")
    dataset = workspace.dataset(workspace.run(run_id).dataset_id)
    picture = QPixmap(40, 24)
    picture.fill(RED)
    for path in workspace.samples(dataset.id).paths:
        (files / path).parent.mkdir(parents=True, exist_ok=True)
        picture.save(str(files / path))
    with workspace.writing() as db:
        db.execute("update datasets set root = ?", (str(files),))
    page = open_page(qtbot, session, (960, 640))
    session.show_run(run_id)
    at_rest(qtbot, page)
    qtbot.waitUntil(lambda: not page.result.picture.pixmap().isNull())
    return page


def right_click(widget, place):
    """Ask for the menu there, and return it."""
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
    QApplication.sendEvent(widget, event)
    return QApplication.activePopupWidget()


def path_of(workspace, session, files, sample):
    samples = workspace.samples(session.dataset().id)
    return files / samples.paths[samples.ids.tolist().index(sample)]


def test_a_neighbour_is_copied_in_its_full_size_and_its_file_is_opened(
    page, session, workspace, files, opened, qtbot, tmp_path
):
    card = page.result.cards[2]
    qtbot.waitUntil(lambda: pictured(card))
    path = path_of(workspace, session, files, card.sample())
    menu = right_click(card, card.rect().center())
    assert isinstance(menu, ImageMenu)
    QGuiApplication.clipboard().clear()
    menu.copy.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().image().width() == 40)
    assert QGuiApplication.clipboard().image().pixelColor(20, 12) == RED
    menu.copy_path.trigger()
    assert QGuiApplication.clipboard().text() == str(path)
    menu.open.trigger()
    qtbot.waitUntil(lambda: opened == [QUrl.fromLocalFile(str(path))])
    menu.open_folder.trigger()
    qtbot.waitUntil(lambda: opened[1:] == [QUrl.fromLocalFile(str(path.parent))])
    menu.close()
    path.unlink()
    said = []
    session.noticed.connect(said.append)
    right_click(card, card.rect().center()).open.trigger()
    qtbot.waitUntil(lambda: len(said) == 1)
    assert str(said[0]).startswith(f"The file {path} is missing. The run is kept.")
    assert len(opened) == 2
    QApplication.activePopupWidget().close()


def test_pictures_and_rows_of_the_query_have_the_menu_and_the_page_its_commands(page, session, opened, qtbot):
    table = page.queries.table
    for widget in (page.result.picture, table.viewport()):
        menu = right_click(widget, QPoint(20, 20))
        assert isinstance(menu, ImageMenu)
        menu.close()
    commands = {action.text(): action for action in page.actions()}
    QGuiApplication.clipboard().clear()
    commands["Copy the query's image"].trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().image().width() == 40)
    commands["Open the folder of the query's image"].trigger()
    qtbot.waitUntil(lambda: len(opened) == 1)
    page.result.show_nothing("No query")
    assert right_click(page.result.picture, QPoint(20, 20)) is None, "there is no image"
    assert page.result.more.isHidden()


def test_an_image_without_a_file_of_its_own_can_be_copied_only(qtbot, session, workspace, tmp_path):
    page = open_trained(qtbot, session, workspace, tmp_path / "cache")
    qtbot.waitUntil(lambda: not page.result.picture.pixmap().isNull())
    menu = page.result.image_menu
    menu.refresh()
    assert menu.copy.isEnabled()
    assert not any(action.isEnabled() for action in (menu.copy_path, menu.open, menu.open_folder))
    assert menu.open.toolTip() == "The image has no file of its own"


def test_what_is_no_image_is_not_opened(page, session, workspace, files, opened, qtbot):
    """The desktop would start it, and the names come from a workspace that may be another person's."""
    sample, said = page.browsing.query, []
    session.noticed.connect(said.append)
    for number, name in enumerate(("a.bat", "b.desktop", "c.png"), start=1):
        (files / name).write_bytes(b"[Desktop Entry]")
        with workspace.writing() as db:
            db.execute("update samples set path = ? where id = ?", (name, sample))
        page.result.image_menu.open.trigger()
        qtbot.waitUntil(lambda number=number: len(said) == number)
        assert str(said[-1]).endswith("not opened.")
        assert opened == []


def test_a_copied_path_ends_no_line_of_a_shell(page, session, workspace, qtbot):
    sample = page.browsing.query
    with workspace.writing() as db:
        db.execute("update samples set path = ? where id = ?", ("a\nrm -r b\r\tc\x1b.png", sample))
    session.images_located.emit(workspace.run(session.run_id).dataset_id)
    qtbot.waitUntil(lambda: copied(page.result.image_menu).endswith("a\\nrm -r b\\r\\tc\\x1b.png"))


def test_the_menu_says_that_a_path_is_copied_with_escapes(page, session, workspace, qtbot):
    menu = page.result.image_menu

    def rename(name):
        with workspace.writing() as db:
            db.execute("update samples set path = ? where id = ?", (name, page.browsing.query))
        session.images_located.emit(workspace.run(session.run_id).dataset_id)

    for name in ("a\nb.png", "a\u200eb.png", "a\u200bb.png", "a\u00adb.png"):
        rename("ab.png")
        qtbot.waitUntil(lambda: titled(menu) == menu.copy_path.toolTip() == "Copy path")  # Qt's own says nothing
        rename(name)
        qtbot.waitUntil(lambda: titled(menu) == "Copy path with escapes")
        assert "\\" in copied(menu)
        assert "differs from the path" in menu.copy_path.toolTip()


def titled(menu):
    """What the menu calls the copy of a path."""
    menu.refresh()
    return menu.copy_path.text()


def copied(menu):
    """What Copy path leaves in the clipboard."""
    menu.copy_path.trigger()
    return QGuiApplication.clipboard().text()


def test_a_folder_that_is_a_program_is_not_opened(page, session, workspace, files, opened, qtbot):
    sample = page.browsing.query
    (files / "Viewer.app").mkdir()
    (files / "Viewer.app" / "a.png").write_bytes(b"")
    with workspace.writing() as db:
        db.execute("update samples set path = 'Viewer.app/a.png' where id = ?", (sample,))
    said = []
    session.noticed.connect(said.append)
    page.result.image_menu.open_folder.trigger()
    qtbot.waitUntil(lambda: len(said) == 1)
    assert str(said[0]).endswith("is a program. It was not opened.")
    assert opened == []
