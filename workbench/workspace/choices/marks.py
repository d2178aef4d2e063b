"""What shows that a person's choices were changed, by whatever program."""

from workbench.workspace.database import checksums
from workbench.workspace.database.connection import Connection

TABLES = ("label_decisions", "report_templates", "sample_tags", "saved_views", "selections")
Marks = dict[str, tuple[int, float]]  # by table: rows, and the sum of their checksums


def marked_tables(db: Connection) -> list[str]:
    """Those of TABLES that the database has, with checksums; one of an older version may lack some."""
    return [table for table in checksums.sealed_tables(db) if table in TABLES]


def marks(db: Connection, tables: list[str]) -> Marks:
    """The mark of each table; it is another one after any change to a row."""
    sums = " union all ".join(f"select '{table}', count(*), total(checksum) from {table}" for table in tables)
    return {table: (rows, total) for table, rows, total in db.execute(sums).fetchall()} if tables else {}
