"""The schema, as the list of steps that made it. A released step is never edited; add the next one."""

import contextlib
import filecmp
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from sqlite_utils import Database, Migrations

from workbench import files
from workbench.files import parts
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.database import checksums
from workbench.workspace.database.connection import (
    READABLE_UP_TO,
    SET,
    Connection,
    DatabaseError,
    IntegrityError,
    file_of,
    writing,
)
from workbench.workspace.database.packed import NEIGHBOURS_VIEW
from workbench.workspace.database.problems import Damaged, explain
from workbench.workspace.folders import arrivals
from workbench.workspace.measured import sealing
from workbench.workspace.paths import DATABASE, is_file
from workbench.workspace.tables import placements

STEM = DATABASE.partition(".")[0]
migration = Migrations(SET)

FIRST = """
create table datasets (
  id integer primary key, name text not null, root text not null, fingerprint text not null unique,
  class_names text not null, pixels text not null, image_size integer not null, channels integer not null);
create table samples (
  dataset_id integer not null references datasets(id), id integer not null, "row" integer not null, path text not null,
  label integer not null, class text not null, official text not null default '',
  primary key (dataset_id, id)) without rowid;
create unique index samples_by_row on samples (dataset_id, "row");
create table runs (
  id integer primary key, name text not null, config text not null, dataset_id integer references datasets(id),
  seed integer not null, dataset text not null, loss text not null, backbone text not null,
  status text not null check (status in
    ('queued', 'running', 'waiting', 'stopped', 'done', 'cancelled', 'failed', 'interrupted')),
  problem text not null default '', phase text not null default '',
  done integer not null default 0, total integer not null default 0,
  epoch integer not null default 0, epochs integer not null default 0,
  images_per_second real not null default 0, memory_bytes integer not null default 0,
  seconds_left real not null default 0,
  created text not null, started text, ended text, heartbeat text, seconds real not null default 0,
  environment text not null default '{}', pid integer, host text,
  note text not null default '', colour integer not null default 0, trashed text);
create table metrics (id integer primary key, name text not null unique);
create table scalar_points (
  seq integer primary key, run_id integer not null references runs(id) on delete cascade,
  metric_id integer not null references metrics(id), step integer not null, value real);
create index scalars_by_curve on scalar_points (run_id, metric_id, step);
create view scalars as
  select p.run_id, m.name, p.step, p.value from scalar_points p join metrics m on m.id = p.metric_id;
create table artefacts (
  id integer primary key, run_id integer not null references runs(id) on delete cascade,
  kind text not null check (kind in ('checkpoint', 'embeddings', 'proxies', 'projection', 'report', 'log')),
  path text not null, bytes integer not null, blake2b text not null, step integer, created text not null,
  unique (run_id, path));
create table evaluations (
  id integer primary key, run_id integer not null references runs(id) on delete cascade, epoch integer not null,
  step integer not null, embeddings_id integer not null references artefacts(id),
  proxies_id integer references artefacts(id), distance text not null, score real, metrics text not null,
  created text not null, unique (run_id, epoch, distance));
create table queries (
  evaluation_id integer not null references evaluations(id) on delete cascade, sample_id integer not null,
  place integer not null, label integer not null, ap real, first_hit integer not null, r integer not null,
  "right" integer not null, neighbours text not null, similarities text not null,
  unique (evaluation_id, sample_id));
create index queries_by_ap on queries (evaluation_id, ap, sample_id);
create index queries_by_first_hit on queries (evaluation_id, first_hit, sample_id);
create index queries_by_label on queries (evaluation_id, label, sample_id);
create view query_rows as
  select q.evaluation_id, q.sample_id, s.class, q.label, q.ap, q.first_hit, q.r, q."right", s.path
  from queries q join evaluations e on e.id = q.evaluation_id join runs r on r.id = e.run_id
  join samples s on s.dataset_id = r.dataset_id and s.id = q.sample_id;
create view neighbours as
  select q.evaluation_id, q.sample_id as query_id, n.key + 1 as rank, s.id as sample_id, s.label as label,
    v.value / 10000.0 as similarity
  from queries q join evaluations e on e.id = q.evaluation_id join runs r on r.id = e.run_id,
    json_each(q.neighbours) n, json_each(q.similarities) v
  join samples s on s.dataset_id = r.dataset_id and s."row" = n.value where v.key = n.key;
create table projections (
  id integer primary key, evaluation_id integer not null references evaluations(id) on delete cascade,
  coordinates_id integer not null references artefacts(id), method text not null, params text not null,
  seed integer not null, trustworthiness real, versions text not null, created text not null);
create table selections (
  id integer primary key, name text not null, dataset_id integer not null references datasets(id),
  samples text not null, note text not null default '', created text not null);
create table tags (
  run_id integer not null references runs(id) on delete cascade, tag text not null,
  primary key (run_id, tag)) without rowid;
"""


@migration()
def m001_first_schema(db: Database) -> None:
    """Runs, curves, data sets, evaluations, maps, files and tags."""
    for statement in FIRST.split(";\n"):
        if statement.strip():
            db.execute(statement.strip().removesuffix(";"))


@migration()
def m002_charts(db: Database) -> None:
    """Charts that a run's method draws of itself."""
    db.execute(
        "create table charts (run_id integer not null references runs(id) on delete cascade, step integer not null, "
        "charts text not null, primary key (run_id, step)) without rowid"
    )


@migration()
def m003_experiments(db: Database) -> None:
    """Experiments, and the experiment of a run."""
    db.execute(
        "create table experiments (id integer primary key, name text not null, config text not null, "
        "created text not null, result text not null default '{}')"
    )
    db.execute("alter table runs add column experiment_id integer references experiments(id) on delete set null")


@migration()
def m004_sample_tags(db: Database) -> None:
    """Words on samples."""
    db.execute(
        "create table sample_tags (dataset_id integer not null references datasets(id) on delete cascade, "
        "sample_id integer not null, tag text not null, created text not null, "
        "primary key (dataset_id, tag, sample_id)) without rowid"
    )


@migration()
def m005_sweeps(db: Database) -> None:
    """Sweeps and their trials."""
    db.execute(
        "create table sweeps (id integer primary key, name text not null, config text not null, how text not null, "
        "parameters text not null, points integer not null, metric text not null, reported integer not null, "
        "source text not null default '', state text not null "
        "check (state in ('active', 'paused', 'cancelled', 'done')), problem text not null default '', "
        "experiment_id integer references experiments(id) on delete set null, created text not null, "
        "device text not null default '', holds integer not null default 0, pid integer, host text, born real, "
        "beat text)"
    )
    db.execute(
        "create table sweep_trials (id integer primary key, "
        "sweep_id integer not null references sweeps(id) on delete cascade, point integer not null, "
        "place integer not null, setting text not null, seed integer not null, fold integer not null, "
        "state text not null check (state in ('queued', 'running', 'paused', 'done', 'failed', 'cancelled')), "
        "run_id integer references runs(id) on delete set null, objective real, problem text not null default '')"
    )
    db.execute("create index sweep_trials_by_place on sweep_trials (sweep_id, place)")


@migration()
def m006_chains_of_maps(db: Database) -> None:
    """What is known of a map, and the map that it started from."""
    for column in (
        "continuity real",
        "trust_queries integer",
        "start_id integer references projections(id) on delete set null",
        "kept_id integer references artefacts(id)",
        "doubts text not null default '[]'",
    ):
        db.execute(f"alter table projections add column {column}")


@migration()
def m008_packed_neighbours(db: Database) -> None:
    """The view that reads neighbours as blobs."""
    db.execute("drop view neighbours")
    db.execute(NEIGHBOURS_VIEW)


@migration()
def m009_report_templates(db: Database) -> None:
    """How a user arranged reports."""
    db.execute(
        "create table report_templates (template text primary key, arrangement text not null, changed text not null) "
        "without rowid"
    )


# Tables in the order of the first step. What a column of `queries` holds is a blob, or JSON in old evaluations.
STRICT = (
    "datasets", "samples", "runs", "metrics", "scalar_points", "artefacts", "evaluations", "queries", "projections",
    "selections", "tags", "charts", "experiments", "sample_tags", "sweeps", "sweep_trials", "report_templates",
)  # fmt: skip
BLOBS = ("neighbours text not null", "similarities text not null")


@migration()
def m010_strict_tables(db: Database) -> None:
    """Each table is rewritten: SQLite has no other way that every build of it allows."""
    db.execute("pragma legacy_alter_table = on")  # what names a table goes on naming the new one
    for table in STRICT:
        sql = db.execute("select sql from sqlite_master where type = 'table' and name = ?", (table,)).fetchone()[0]
        others = db.execute(
            "select sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null", (table,)
        ).fetchall()
        declared = sql[sql.index("(") :]
        for column in BLOBS if table == "queries" else ():
            declared = declared.replace(column, column.replace(" text ", " any "))
        strict = ", strict" if declared.endswith("without rowid") else " strict"
        db.execute(f"create table {table}_strict {declared}{strict}")
        try:
            db.execute(f"insert into {table}_strict select * from {table}")
        except IntegrityError as error:
            raise Damaged(file_of(db.conn), f"a value of the wrong kind: {error}".replace("_strict", "")) from None
        db.execute(f"drop table {table}")
        db.execute(f"alter table {table}_strict rename to {table}")
        for (sql,) in others:
            db.execute(sql)
    db.execute("pragma legacy_alter_table = off")


@migration()
def m011_checksums(db: Database) -> None:
    """Checksums of rows."""
    checksums.make_tables(db.conn)


@migration()
def m012_owned_runs(db: Database) -> None:
    """Who works on a run."""
    db.execute("alter table runs add column born real")
    db.execute("alter table runs add column owner text")


@migration()
def m013_deployments_and_labels(db: Database) -> None:
    """What stores of an evaluation keep and cost, and what a user decided about labels."""
    db.execute(
        "create table deployments (evaluation_id integer not null references evaluations(id) on delete cascade, "
        "wanted text not null, measured text not null, created text not null, primary key (evaluation_id, wanted)) "
        "without rowid, strict"
    )
    db.execute(
        "create table label_decisions (dataset_id integer not null references datasets(id) on delete cascade, "
        "sample_id integer not null, decision text not null "
        "check (decision in ('keep', 'relabel', 'drop', 'unsure')), label integer, created text not null, "
        "primary key (dataset_id, sample_id)) without rowid, strict"
    )
    checksums.make_sealed(db.conn, "label_decisions")


@migration()
def m014_arrivals(db: Database) -> None:
    """Runs that came from folders."""
    db.execute(arrivals.TABLE)


@migration()
def m015_placements(db: Database) -> None:
    """Runs at other places."""
    db.execute(placements.TABLE)


@migration()
def m016_saved_views(db: Database) -> None:
    """Views of the Retrieval page with a name."""
    db.execute(
        "create table saved_views (name text primary key not null, listed text not null, changed text not null) strict"
    )
    checksums.make_sealed(db.conn, "saved_views")


@migration()
def m017_machine_of_a_placement(db: Database) -> None:
    """What a place pointed to when a run was sent there."""
    db.execute(placements.MACHINE)


@migration()
def m018_stopped_trials(db: Database) -> None:
    """Whether a sweep stops trials early, and why it stopped one."""
    db.execute("alter table sweeps add column stop_early integer not null default 0")
    db.execute("alter table sweep_trials add column stopped text not null default ''")


def migrate(connection: Connection, path: Path | None = None, progress: Progress = quiet) -> None:
    """Bring the database to the newest schema, with a copy of it first. Raises Problem if it is too new.

    `progress` is asked between parts, and may raise Cancelled. Where it does, and where a step fails, the database is
    as it was, and there is no copy.
    """
    db = Database(connection)
    version = connection.execute("pragma user_version").fetchone()[0]
    if version > READABLE_UP_TO:
        raise Problem(
            "This workspace was made by a newer Workbench.",
            kept="It was not changed.",
            todo="Update Workbench to open it.",
        )
    if not migration.pending(db):
        return
    with contextlib.ExitStack() as stack:
        keep = stack.enter_context(_copied(connection, path)) if path and "runs" in db.table_names() else _nothing
        connection.execute("pragma foreign_keys = off")  # a table that is written again takes no other rows along
        try:
            with writing(connection):
                migration.apply(db)
                sealing.seal_anew(connection, progress)
                connection.execute(f"pragma user_version = {READABLE_UP_TO}")
                keep()
        finally:
            connection.execute("pragma foreign_keys = on")


@contextlib.contextmanager
def _copied(connection: Connection, path: Path) -> Iterator[Callable[[], None]]:
    """A copy of the database during the block; calling what is yielded gives it its name.

    An upgrade that is killed before that leaves an unfinished folder, which the next opening removes; one that is
    killed later leaves a whole copy, which the next upgrade replaces by an equal one. An error in the block leaves no
    copy: the database is then as it was, and its own copy.
    """
    stamp = f"{datetime.now():%Y%m%d-%H%M%S-%f}-{os.getpid()}"  # two programs may open an old workspace at once
    copy = path.with_name(f"{STEM}-before-{stamp}.db")
    with contextlib.ExitStack() as stack:
        try:
            unfinished = stack.enter_context(parts.part_folder(copy)) / copy.name
            connection.execute("vacuum into ?", (str(unfinished),))
        except OSError as error:
            raise files.explain(error, copy) from error
        except DatabaseError as error:
            raise explain(error, path) from error
        try:
            yield lambda: _named(unfinished, copy)
        except BaseException:
            copy.unlink(missing_ok=True)
            raise


def _named(unfinished: Path, copy: Path) -> None:
    try:
        earlier = [older for older in copy.parent.glob(f"{STEM}-before-*.db") if is_file(older)]
        same = [older for older in earlier if filecmp.cmp(older, unfinished, shallow=False)]
        unfinished.rename(copy)
        for older in same:
            older.unlink()
        files.sync_folder(copy.parent)
    except OSError as error:
        raise files.explain(error, copy) from error


def _nothing() -> None:
    """A new database has no copy."""
