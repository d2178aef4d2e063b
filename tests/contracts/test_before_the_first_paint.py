"""What the window does not load before its first paint: it is shown sooner, and these come when they are needed."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from source_rules import HEAVY, ROOT

from tests.ui.window_process import run_window
from workbench.ui.state.pages.page_info import PAGES

# What runs at other places needs, readers of images and archives, the network, and all that a page or a dialog shows.
LATE = {
    "workbench.places", "workbench.ui.state.runs.place_follower", "workbench.datasets.images",
    "workbench.files.archives",
    "workbench.running.engine", "workbench.running.preflight", "workbench.reports", "workbench.exchange",
    "workbench.comparing", "workbench.projection", "workbench.searching", "workbench.fair", "workbench.sweeps.plan",
    "workbench.ui.places.dialog", "workbench.ui.sweeps.dialog", "workbench.ui.actions.exchange.import_dialog",
    "pyqtgraph", "PIL", "ssl", "http.client", "urllib.request", "tarfile", "scipy",
}  # fmt: skip


def loaded(folder: Path, before: str = "") -> set[str]:
    """The modules that a window has when it has been painted once; `before` is run first."""
    tell = "from workbench import app\napp._tell_start = lambda: print(*sorted(sys.modules))"
    ended = run_window(f"{before}\n{tell}", folder)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.split())


def late(modules: set[str], unwanted: set[str]) -> list[str]:
    """Those of the modules that are unwanted, or in a package that is."""
    return sorted(name for name in modules if any(name == one or name.startswith(f"{one}.") for one in unwanted))


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What a window without anything planted loads."""
    return loaded(tmp_path_factory.mktemp("window"))


def test_a_planted_load_is_found(tmp_path: Path):
    assert "tarfile" in late(loaded(tmp_path, before="import tarfile"), LATE)


def test_nothing_is_loaded_before_the_first_paint_that_it_does_not_show(painted: set[str]):
    others = {info.module for info in PAGES if info.name != "setup"}
    assert late(painted, LATE | others | HEAVY) == []


def test_an_appimage_keeps_what_is_loaded_as_it_is(painted: set[str], monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    contents = import_module("contents")
    packages = {name.partition(".")[0] for name in painted} & contents.carried_names()
    packages -= {"_distutils_hack"}  # of an installation's .pth file
    assert "numpy" in packages
    patterns = [pattern.removesuffix(".py") for pattern in contents.READ_AT_START]
    assert sorted(name for name in packages if contents.is_kept(name, tuple(patterns))) == []
    for name in ("contents", "release"):
        sys.modules.pop(name, None)
