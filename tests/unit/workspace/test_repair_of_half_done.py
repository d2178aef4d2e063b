"""A program that was killed while it wrote without a log, as on a network disk, leaves a rollback journal."""

import shutil

import pytest

from tests.campaign.hostile import make_space
from workbench.workspace import Workspace
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.repairs.repair import repair


@pytest.fixture
def killed(tmp_path):
    """A workspace whose writer was killed: half of what it wrote is in the database, with spilled pages."""
    space = tmp_path / "whole"
    make_space(space)
    db = sqlite3.connect(space / "workspace.db", isolation_level=None)
    for pragma in ("journal_mode = delete", "cache_size = 2", "cache_spill = 2"):
        db.execute(f"pragma {pragma}")
    db.execute("begin immediate")
    db.execute("update queries set place = place + 1")
    db.execute("update runs set note = ?", ("long " * 4000,))
    shutil.copytree(space, tmp_path / "killed")
    db.execute("rollback")
    db.close()
    assert (tmp_path / "killed" / "workspace.db-journal").stat().st_size > 4096
    return tmp_path / "killed"


def notes(space):
    with Workspace(space) as workspace:
        return {run.id: run.note for run in workspace.runs()}


def test_what_was_half_done_is_undone(killed):
    said, _ = repair(killed)
    assert "is intact" in said
    assert notes(killed) == {1: "", 2: ""}


def test_a_database_that_is_damaged_too_is_rebuilt(killed):
    database = killed / "workspace.db"
    content = bytearray(database.read_bytes())
    content[3 * 4096 : 9 * 4096] = bytes(range(256)) * 96
    database.write_bytes(content)
    said, _ = repair(killed)
    assert "Rebuilt" in said
    assert set(notes(killed)) >= {1, 2}


def test_a_journal_is_not_played_back_into_a_new_database(killed):
    (killed / "workspace.db").unlink()
    said, _ = repair(killed)
    assert "Rebuilt" in said
    assert set(notes(killed)) >= {1, 2}
    assert not list(killed.glob("workspace.db-journal"))
    assert len(list(killed.glob("workspace.db.damaged-*-journal"))) == 1
