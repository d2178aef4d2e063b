"""docs/workspace.md lists each table and view of a workspace with its columns."""

import re
from pathlib import Path

from source_rules import ROOT

from workbench.workspace import Workspace

UNLISTED = {"_sqlite_migrations"}  # of sqlite-utils
CHECKSUM = "checksum"  # of each small table; the page explains it once


def listed(text: str) -> dict[str, list[str]]:
    """The columns of each name in the first cell of a row; those of several names are separated by semicolons."""
    columns: dict[str, list[str]] = {}
    for line in text.partition("| name | columns | content |")[2].splitlines():
        cells = line.split("|")
        if len(cells) < 4 or "`" not in cells[1]:
            continue
        names = re.findall(r"`(\w+)`", cells[1])
        for name, words in zip(names, cells[2].split(";"), strict=True):
            columns[name] = words.strip().split(", ")
    return columns


def other_columns(text: str, folder: Path) -> set[str]:
    """Tables and views that the page does not have, or whose columns are others there."""
    said = listed(text)
    with Workspace(folder) as workspace, workspace.reading() as db:
        names = db.execute("select name from sqlite_master where type in ('table', 'view')").fetchall()
        real = {
            name: [column for _, column, *_ in db.execute(f"pragma table_info({name})")]
            for (name,) in names
            if not name.startswith("sqlite_") and name not in UNLISTED
        }
    wrong = {name for name, columns in real.items() if _plain(columns) != _plain(said.get(name, []))}
    return wrong | (said.keys() - real.keys())


def _plain(columns: list[str]) -> list[str]:
    return [column for column in columns if column != CHECKSUM]


def test_the_page_has_every_table_with_its_columns(tmp_path: Path) -> None:
    Workspace(tmp_path / "space", create=True).close()
    text = (ROOT / "docs" / "workspace.md").read_text("utf-8")
    assert other_columns(text, tmp_path / "space") == set()
    assert other_columns(text.replace("| run_id, tag |", "| run_id, words |"), tmp_path / "space") == {"tags"}
    assert other_columns(text.replace("| `tags` |", "| `tagged` |"), tmp_path / "space") == {"tags", "tagged"}
