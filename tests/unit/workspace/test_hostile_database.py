"""SQLite obeys what a database and its logs declare: nothing of it runs, and no file elsewhere is read or deleted."""

import os
import subprocess
import sys
from contextlib import closing

import pytest

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.choices import report_templates
from workbench.workspace.database.connection import CHECKED_UP_TO, sqlite3
from workbench.workspace.repairs.repair import repair
from workbench.workspace.schema.schema import Foreign
from workbench.workspace.tables import placements

PAGE = 4096
JOURNAL = bytes.fromhex("d9d505f920a163d7")


@pytest.fixture
def space(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        report_templates.store_arrangement(workspace, "own-1", {"title": "Mine", "base": "one-run"})
    return tmp_path / "space"


def in_schema(space, *statements):
    """Statements with the tables of the schema itself open for writing."""
    with closing(sqlite3.connect(space / "workspace.db", isolation_level=None)) as db:
        db.execute("pragma writable_schema = on")
        db.execute("pragma ignore_check_constraints = on")
        for sql, *values in statements:
            db.execute(sql, values)


def journal(space, name, sum_of_name=None):
    """A rollback journal without pages that names a file that several databases share."""
    content = os.fsencode(name)
    head = JOURNAL + b"".join(n.to_bytes(4, "big") for n in (0, 0, os.path.getsize(space / "workspace.db") // PAGE))
    head += (512).to_bytes(4, "big") + PAGE.to_bytes(4, "big")
    total = sum(content) if sum_of_name is None else sum_of_name
    tail = (2**30 // PAGE + 1).to_bytes(4, "big") + content + len(content).to_bytes(4, "big")
    (space / "workspace.db-journal").write_bytes(head.ljust(512, b"\0") + tail + total.to_bytes(4, "big") + JOURNAL)


def test_a_journal_that_names_a_file_elsewhere_is_not_played_back(space, tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("dear")
    journal(space, letter)
    for opening in (lambda: Workspace(space).close(), lambda: repair(space)):
        with pytest.raises(Problem, match="names another file"):
            opening()
    assert letter.read_text() == "dear", "SQLite 3.40 deletes it"
    assert (space / "workspace.db-journal").exists()
    (space / "workspace.db-journal").unlink()
    Workspace(space).close()


def evil(name):
    return f"create trigger {name} after insert on report_templates begin delete from report_templates; end"


def named_as_counts(space):
    row = "trigger", "sqlite_stat1", "report_templates", 0, evil("sqlite_stat1")
    in_schema(space, ("insert into sqlite_master (type, name, tbl_name, rootpage, sql) values (?, ?, ?, ?, ?)", *row))


def named_as_a_table(space):
    behind = "update sqlite_master set rowid = rowid + 1000 where tbl_name = 'saved_views'"
    in_schema(space, (evil("saved_views"),), (behind,))


@pytest.mark.parametrize("hide", [named_as_counts, named_as_a_table])
def test_a_trigger_with_the_name_of_something_else_is_found(space, hide):
    hide(space)
    with pytest.raises(Foreign, match="not as Workbench makes it"):
        Workspace(space)


def test_a_view_in_the_place_of_a_function_is_found_and_repaired(space):
    in_schema(space, ("create view JSON_each as select 1 as value",), ("create view mine as select 1",))
    with pytest.raises(Foreign, match="the view “JSON_each” was added"):
        Workspace(space)
    repair(space)
    with Workspace(space) as workspace:
        assert report_templates.arrangements(workspace)["own-1"]["title"] == "Mine"


def test_what_sqlite_counted_is_no_addition(space):
    in_schema(space, ("analyze",))
    Workspace(space).close()


BOMBS = {  # each takes 600 MB of memory
    "a check": (
        ("create table songs (a text check (length(hex(zeroblob(200000000))) > 0))",),
        ("insert into songs values ('x')",),
    ),
    "the steps": (
        ("drop table _sqlite_migrations",),
        (
            "create table _sqlite_migrations (id integer primary key, migration_set text, applied_at text, "
            "name text generated always as (hex(zeroblob(200000000))))",
        ),
        ("insert into _sqlite_migrations (migration_set, applied_at) values ('workbench', 'now')",),
    ),
}
OPENS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
from workbench.problem import Problem
from workbench.workspace import Workspace
try:
    Workspace(sys.argv[1])
except Problem as problem:
    print(problem.what)
"""


def opened(space):
    """What is said when it is opened by a process with 512 MiB of memory."""
    return subprocess.run(
        [sys.executable, "-c", OPENS, str(space)], capture_output=True, text=True, check=True, timeout=60
    ).stdout


@pytest.mark.skipif(os.name != "posix", reason="Windows does not limit a process's memory")
@pytest.mark.parametrize("bomb", BOMBS)
def test_nothing_that_the_database_declares_is_computed(space, bomb):
    in_schema(space, *BOMBS[bomb])
    assert "not as Workbench makes it" in opened(space)


@pytest.mark.skipif(os.name != "posix", reason="Windows does not limit a process's memory")
@pytest.mark.parametrize("begin", [pytest.param("whole", marks=pytest.mark.slow), "zeros"])
def test_a_log_of_any_length_is_read_in_parts(space, begin):
    log = space / "workspace.db-wal"
    with Workspace(space) as workspace:
        report_templates.store_arrangement(workspace, "own-2", {"title": "Other", "base": "one-run"})
        content = log.read_bytes()
    log.write_bytes(content if begin == "whole" else b"\0")
    os.truncate(log, 32 + (5 << 27) // (24 + PAGE) * (24 + PAGE))
    assert ("-wal is damaged" in opened(space)) == (begin == "zeros")
    for copy in space.glob("workspace.db-wal.damaged-*"):
        assert copy.stat().st_blocks * 512 < 1 << 20, "the zeros take no room"
    with Workspace(space) as workspace:
        assert set(report_templates.arrangements(workspace)) == {"own-1", "own-2"}


ENDLESS = (
    "create view selections as with recursive c (id) as (select 1 union all select id + 1 from c) "
    "select id, 'some' as name, 1 as dataset_id, '[]' as samples, '' as note, '2026' as created from c"
)


def test_a_repair_reads_no_view_in_the_place_of_a_table(space):
    in_schema(space, ("pragma foreign_keys = off",), ("drop table selections",), (ENDLESS,))
    asked = [sys.executable, "-m", "workbench", "doctor", "--repair", "--workspace", str(space)]
    assert "Rebuilt" in subprocess.run(asked, capture_output=True, text=True, timeout=240, check=True).stdout
    with Workspace(space) as workspace:
        assert set(report_templates.arrangements(workspace)) == {"own-1"}


def name_each_other(space, table):
    """Make the rows of a table endless: 16 pages of its tree have 200 children each, which are all the next one."""
    with closing(sqlite3.connect(space / "workspace.db", isolation_level=None)) as db:
        db.execute("pragma journal_mode = delete")
        ((root,),) = db.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchall()
    pages = (space / "workspace.db").stat().st_size // PAGE
    with (space / "workspace.db").open("r+b") as file:
        file.seek((root - 1) * PAGE)
        below = file.read(PAGE)
        for depth in range(16):
            file.seek(((root - 1) if not depth else pages + depth - 1) * PAGE)
            file.write(_inner(pages + depth + 1))
        file.write(below)
        file.seek(28)
        file.write((pages + 16).to_bytes(4, "big"))


def test_a_repair_ends_where_damaged_pages_name_each_other(space):
    name_each_other(space, "report_templates")
    with pytest.raises(Problem, match="is damaged"):
        Workspace(space)
    asked = [sys.executable, "-m", "workbench", "doctor", "--repair", "--workspace", str(space)]
    assert "Rebuilt" in subprocess.run(asked, capture_output=True, text=True, timeout=240, check=True).stdout


@pytest.mark.skipif(os.name != "posix", reason="Windows does not limit a process's memory")
@pytest.mark.parametrize("table", ["runs", "placements", "report_templates", "_sqlite_migrations"])
def test_a_database_that_is_too_large_to_be_checked_whole_has_no_endless_small_table(space, table):
    with Workspace(space) as workspace:
        run_id = workspace.create_run(RunConfig())
        with workspace.writing() as db:
            placements.store(db, placements.Placement(run_id, "0" * 32, "box"))
    name_each_other(space, table)
    os.truncate(space / "workspace.db", CHECKED_UP_TO + PAGE)
    assert "is damaged" in opened(space)


def test_pages_are_checked_where_nothing_may_be_written(space, monkeypatch):
    with Workspace(space) as workspace:
        run_id = workspace.create_run(RunConfig())
        with workspace.writing() as db:
            placements.store(db, placements.Placement(run_id, "0" * 32, "box"))  # not read when it is opened
    name_each_other(space, "placements")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(Problem, match="is damaged"):
        Workspace(space)


def _inner(child):
    """A page of a table's tree whose 200 children are the same page."""
    cell = child.to_bytes(4, "big") + b"\1"
    page = bytearray(PAGE)
    page[:8] = b"\5" + (0).to_bytes(2, "big") + (200).to_bytes(2, "big") + (PAGE - 5 * 200).to_bytes(2, "big") + b"\0"
    page[8:12] = child.to_bytes(4, "big")
    for number in range(200):
        at = PAGE - 5 * (number + 1)
        page[12 + 2 * number : 14 + 2 * number] = at.to_bytes(2, "big")
        page[at : at + 5] = cell
    return bytes(page)
