"""The HTML report in a real browser without network: no error, and its plots and image cards work."""

import numpy as np
import pytest

from tests.ui.trained import trained_run
from tests.unit.comparing.compared_runs import store
from tests.unit.reports.browser import FOUND, Page
from workbench import reports
from workbench.config import RunConfig, TrainingParams
from workbench.reports.sections import GROUP_SECTIONS
from workbench.workspace import Workspace

pytestmark = pytest.mark.skipif(FOUND is None, reason="no Chromium")
EVIL = "<script>document.title='run'</script><img src=http://192.0.2.1/x onerror=alert(1)> [a](javascript:alert(1))"


@pytest.fixture
def page(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = trained_run(workspace, tmp_path / "cache", name="Blobs")
        [path] = reports.write_report(workspace, run_id, tmp_path / "out", notes=EVIL)
    made = Page(path, tmp_path / "profile")
    yield made
    made.close()


def test_plots_zoom_cards_open_and_nothing_is_asked_of_the_network(page):
    assert page.run("document.querySelectorAll('figure .tools').length") == 4
    assert page.run("[...document.images].every(image => !image.src || image.naturalWidth > 0)")

    page.run("document.querySelector('figure .pane').scrollIntoView(); document.querySelector('figure .pane').focus()")
    page.key("+")
    assert page.run("document.querySelector('.pane').dataset.zoom") == "1.40"
    assert page.run("document.querySelector('.pane img').clientWidth > document.querySelector('.pane').clientWidth")
    x, y = page.run(
        "(b => [b.left + b.width / 2, b.top + b.height / 2])(document.querySelector('.pane').getBoundingClientRect())"
    )
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-100)
    assert page.run("document.querySelector('.pane').dataset.zoom") == "1.96"
    before = page.run("parseFloat(document.querySelector('.pane img').style.marginLeft)")
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseMoved", x + 20, y, button="left", buttons=1)
    page.mouse("mouseReleased", x + 20, y, button="left")
    assert page.run("parseFloat(document.querySelector('.pane img').style.marginLeft)") == pytest.approx(before + 20)
    page.key("0")
    assert page.run("document.querySelector('.pane').dataset.zoom") == "1.00"
    page.run("document.querySelector('figure .tools button').click()")
    assert page.run("document.querySelector('.pane').dataset.zoom") == "1.40"

    page.run("document.querySelector('.card.wrong img, .card.right img').focus()")
    page.key("Enter")
    assert page.run("document.querySelector('dialog').open")
    assert "Neighbour 1 of class" in page.run("document.querySelector('dialog p').textContent")
    assert page.run("document.querySelector('dialog img').clientWidth") > 300
    page.key("Escape")
    assert not page.run("document.querySelector('dialog').open")

    assert page.run("document.title") == "Blobs"
    assert page.console == []
    assert [each for each in page.requested if not each.startswith(("file://", "data:"))] == []


def test_a_script_that_somebody_puts_into_the_file_does_not_run(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(RunConfig(name="Young"))
        [path] = reports.write_report(workspace, run_id, tmp_path / "out", sections=["summary"])
    evil = "<script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">"
    path.write_text(path.read_text("utf-8").replace("</main>", f"{evil}</main>"), "utf-8")
    made = Page(path, tmp_path / "profile")
    try:
        assert made.run("document.title") == "Young"
        assert "Content Security Policy" in " ".join(made.console)
    finally:
        made.close()


def test_a_comparison_opens_and_its_plots_zoom(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.entries.catalog.current", dict)
    with Workspace(tmp_path / "space", create=True) as workspace:
        runs = [
            store(
                workspace, {0: np.full(6, 0.1), 1: np.full(6, level + seed / 50)}, seed=seed, name=EVIL,
                training=TrainingParams(lr=level),
            )
            for level in (0.3, 0.6)
            for seed in range(3)
        ]  # fmt: skip
        [path] = reports.write_report(workspace, runs, tmp_path / "out", ["html"], tuple(GROUP_SECTIONS), notes=EVIL)
    made = Page(path, tmp_path / "profile")
    try:
        panes = made.run("document.querySelectorAll('figure .pane').length")
        assert panes >= 2
        assert made.run("[...document.images].every(image => !image.src || image.naturalWidth > 0)")
        made.run("document.querySelector('figure .pane').scrollIntoView(); document.querySelector('.pane').focus()")
        made.key("+")
        assert made.run("document.querySelector('.pane').dataset.zoom") == "1.40"
        assert made.run("document.title") != "run"
        assert made.console == []
        assert [each for each in made.requested if not each.startswith(("file://", "data:"))] == []
    finally:
        made.close()
