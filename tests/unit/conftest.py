"""What the unit tests share: an empty workspace, and the folder of a run that was trained elsewhere."""

import pytest

from workbench.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    """A new workspace in `space`, below the test's own folder."""
    with Workspace(tmp_path / "space", create=True) as made:
        yield made


@pytest.fixture
def no_catalog(monkeypatch):
    """Entries have their bare names: nothing is known of them."""
    monkeypatch.setattr("workbench.entries.catalog.current", dict)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a whole run that a workspace may import; tests of one file share it and change copies."""
    from tests.travelling_runs import in_folder  # late: it loads what few unit tests use

    folder = tmp_path_factory.mktemp("made") / "run"
    in_folder(folder)
    return folder
