"""What may go wrong under the map: images that were moved, and an analysis process that is killed in the middle."""

import pytest
from PySide6.QtGui import QPixmap

from tests.ui.trained import trained_run
from workbench.ui.pages.map.page import MapPage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def open_page(qtbot, session, run_id, method):
    page = MapPage(session)
    page.settings.method.setCurrentIndex(page.settings.method.findData(method))
    qtbot.addWidget(page)
    page.resize(900, 640)
    page.show()
    session.show_run(run_id)
    qtbot.waitUntil(lambda: page.canvas.data is not None, timeout=30_000)
    return page


@pytest.fixture
def lost(qtbot, session, workspace, tmp_path, monkeypatch):
    """The Map page of a run whose images were moved and whose cache is gone."""
    monkeypatch.setattr(session.analysis, "request", lambda *args: pytest.fail("no UMAP is asked for here"))
    run_id = trained_run(workspace, tmp_path / "cache")
    dataset = workspace.dataset(workspace.run(run_id).dataset_id)
    for path in workspace.samples(dataset.id).paths:
        (tmp_path / "new" / path).parent.mkdir(parents=True, exist_ok=True)
        QPixmap(16, 16).save(str(tmp_path / "new" / path))
    dataset.pixels.unlink()
    with workspace.writing() as db:
        db.execute("update datasets set root = ?", (str(tmp_path / "old"),))
    return open_page(qtbot, session, run_id, "pca")


def test_moved_images_are_told_on_the_card_and_located_all_at_once(qtbot, lost, tmp_path):
    assert not lost.locating.isVisible()
    lost._hover(5, lost.canvas.place_of(5))
    qtbot.waitUntil(lambda: "Put it back" in lost.hover_card.picture.text(), timeout=30_000)
    assert lost.locating.isVisible()
    lost.locating.take(tmp_path / "new")
    qtbot.waitUntil(lambda: not lost.locating.isVisible(), timeout=30_000)
    lost._hover(6, lost.canvas.place_of(6))
    qtbot.waitUntil(lambda: not lost.hover_card.picture.pixmap().isNull(), timeout=30_000)


def test_a_folder_without_the_images_is_told_and_the_way_stays(qtbot, lost, session, tmp_path):
    told = []
    session.noticed.connect(lambda what: told.append(str(what)))
    lost._hover(5, lost.canvas.place_of(5))
    qtbot.waitUntil(lost.locating.isVisible, timeout=30_000)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "inner").mkdir()
    lost.locating.take(tmp_path / "empty" / "inner")
    qtbot.waitUntil(lambda: any("None of the 40 images" in each for each in told), timeout=30_000)
    assert lost.locating.isVisible()


def test_a_killed_analysis_process_is_told_the_pca_stays_and_the_next_map_gets_a_new_one(
    qtbot, session, workspace, tmp_path
):
    told = []
    session.noticed.connect(lambda what: told.append(str(what)))
    page = open_page(qtbot, session, trained_run(workspace, tmp_path / "cache"), "umap")
    qtbot.waitUntil(lambda: page.maker._request is not None, timeout=30_000)
    killed = session.analysis._process._process
    killed.kill()
    qtbot.waitUntil(lambda: any("ended unexpectedly" in each for each in told), timeout=30_000)
    assert page.canvas.data.method == "pca"
    assert not page.strip.isVisible()
    page._make()
    qtbot.waitUntil(lambda: page.maker._request is not None, timeout=30_000)
    assert session.analysis._process._process.pid != killed.pid
    page.maker.cancel()
