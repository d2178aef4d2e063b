"""Opening a workspace hears Cancel between its parts, and leaves everything as it was."""

from contextlib import closing

import pytest

from tests.ui.trained import trained_run
from tests.unit.workspace.older import make_older
from workbench.control import Cancelled
from workbench.workspace import Workspace
from workbench.workspace.database import connection
from workbench.workspace.database.connection import open_reader
from workbench.workspace.news import watched
from workbench.workspace.paths import DATABASE


class Cancel:
    """A Progress that raises Cancelled at one of its calls, counted from 1."""

    def __init__(self, at: int) -> None:
        self.calls, self._at = 0, at

    def __call__(self, text: str, done: int, total: int) -> None:
        self.calls += 1
        if self.calls >= self._at:
            raise Cancelled


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A closed workspace with one trained run; SQLite asks often, because the workspace is small."""
    for name in ("ASK_EVERY", "ASK_CHECK_EVERY"):
        monkeypatch.setattr(connection, name, 200)
    with Workspace(tmp_path / "space", create=True) as workspace:
        trained_run(workspace, tmp_path / "cache")
    return tmp_path / "space"


def content(space):
    """All declarations and the number of rows of each table, and the files beside the database."""
    with closing(open_reader(space / DATABASE)) as db:
        declared = db.execute("select name, sql from sqlite_master order by name").fetchall()
        tables = [name for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
        counts = {name: db.execute(f'select count(*) from "{name}"').fetchone() for name in tables}
    return declared, counts, sorted(path.name for path in space.iterdir() if path.is_dir() or path.suffix == ".db")


def cancelled_everywhere(space) -> int:
    """Open it, cancelled at the first question, then at later ones, until it opens; how often it was cancelled."""
    before, left, at = content(space), [], 1
    while True:
        try:
            watch = watched(space, progress=Cancel(at))
        except Cancelled:
            left.append(content(space))
            at = max(at + 1, at * 5 // 4)
            continue
        watch.close()
        watch.workspace.close()
        break
    after = content(space)  # the same, unless it was an older workspace
    places = [(before, after).index(state) for state in left]
    assert places == sorted(places), "as it was, or upgraded whole"
    return len(left)


def test_an_opening_that_is_cancelled_leaves_the_workspace_as_it_was(space):
    assert cancelled_everywhere(space) > 5
    with Workspace(space) as workspace:
        assert [run.status for run in workspace.runs()] == ["done"]


@pytest.mark.parametrize("step", ["m010_strict_tables", "m016_saved_views"])
def test_an_upgrade_that_is_cancelled_leaves_the_older_workspace_and_no_copy(space, step):
    make_older(space / DATABASE, step)
    assert cancelled_everywhere(space) > 10
    assert len(list(space.glob("workspace-before-*.db"))) == 1
    with Workspace(space) as workspace:
        assert [run.status for run in workspace.runs()] == ["done"]
        assert workspace.evaluations(1)


def test_the_check_of_the_whole_file_and_a_long_log_are_asked(space):
    with Workspace(space) as workspace:
        workspace.set_note(1, "in the log")
        with pytest.raises(Cancelled):
            Workspace(space, progress=Cancel(1))


def test_without_a_cancel_every_part_asks(space):
    progress = Cancel(1_000_000)
    watch = watched(space, progress=progress)
    watch.close()
    watch.workspace.close()
    assert progress.calls > 20
