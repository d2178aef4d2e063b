"""Checksums for the current content of the database: after a step of the schema, and at the end of a run."""

from collections.abc import Callable

from workbench.events import LIVE
from workbench.progress import Progress, quiet
from workbench.workspace.database import checksums
from workbench.workspace.database.connection import Connection
from workbench.workspace.measured import curves, evaluations


def seal_anew(db: Connection, progress: Progress = quiet) -> None:
    """Checksums of everything, after a step of the schema has changed tables; `progress` is asked between parts."""

    def ask() -> None:
        progress("Bringing the workspace up to date", 0, 0)

    for table in checksums.sealed_tables(db):
        ask()
        db.execute(f"update {table} set checksum = null")
    checksums.seal(db)
    sql = "select id from evaluations where id not in (select evaluation_id from evaluation_sums)"
    for (evaluation_id,) in db.execute(sql).fetchall():
        ask()
        seal_evaluation(db, evaluation_id)
    seal_new_samples(db, ask)
    sql = f"select id from runs where status not in {LIVE} and id not in (select run_id from curve_sums)"
    for (run_id,) in db.execute(sql).fetchall():
        ask()
        seal_curves(db, run_id)


def seal_evaluation(db: Connection, evaluation_id: int) -> None:
    """Checksums for the current rows of an evaluation."""
    places, sums = checksums.query_rows(db, evaluation_id, "", ())
    if len(places) and places.tolist() == list(range(len(places))):
        checksums.store_sums(
            db, evaluation_id, checksums.columns_sum(evaluations.read_queries(db, evaluation_id)), sums
        )


def seal_new_samples(db: Connection, ask: Callable[[], None] = lambda: None) -> None:
    """Checksums for the samples of each data set that has none; `ask` is called before each of them."""
    sql = "select id from datasets where id not in (select dataset_id from sample_sums)"
    for (dataset_id,) in db.execute(sql).fetchall():
        ask()
        seal_samples(db, dataset_id)


def seal_samples(db: Connection, dataset_id: int) -> None:
    """Checksums for the current samples of a data set."""
    rows, sums = checksums.joined_sums(map(checksums.sums_of_samples, checksums.sample_parts(db, dataset_id)))
    if rows.tolist() == list(range(len(rows))):
        sql = "insert or replace into sample_sums (dataset_id, rows) values (?, ?)"
        db.execute(sql, (dataset_id, sums.tobytes()))


def is_sealed(db: Connection, run_id: int) -> bool:
    """Whether any curve of a run has a checksum; True for one without curves."""
    sql = (
        "select exists (select 1 from curve_sums where run_id = ?1) "
        "or not exists (select 1 from scalar_points where run_id = ?1)"
    )
    return bool(db.execute(sql, (run_id,)).fetchone()[0])


def seal_curves(db: Connection, run_id: int) -> None:
    """Checksums for the current curves of a run that has ended."""
    for name in curves.scalar_names(db, run_id):
        db.execute(
            "insert or replace into curve_sums (run_id, metric_id, checksum) "
            "values (?, (select id from metrics where name = ?), ?)",
            (run_id, name, checksums.curve_sum(*curves.scalars(db, run_id, name))),
        )
