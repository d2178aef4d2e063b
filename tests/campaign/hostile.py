"""Workspaces of somebody who means harm: names, ids, rows, links and schemas, then everything a person does.

Beside the workspace stands a folder whose files must stay as they are, and beside both nothing new may appear.
"""

import atexit
import contextlib
import io
import json
import os
import random
import shutil
import signal
import struct
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from tests.campaign.outcome import Outcome
from tests.ui.small_run import store_run
from workbench import cli
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Status
from workbench.problem import Problem
from workbench.reports.templates import offered
from workbench.results.by_attribute import all_attributes
from workbench.results.slices import slices
from workbench.running import trained_network
from workbench.workspace import Workspace, recorder
from workbench.workspace.choices import report_templates, saved_views, selections
from workbench.workspace.choices.sample_tags import all_tags, attribute_names, tag_sample
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.experiments import experiments, sweeps
from workbench.workspace.measured import stored_maps
from workbench.workspace.measured.deployments import newest_deployment

TITLE = "Hostile workspaces"
PROMISE = "Nothing outside a workspace is written, deleted or shown because of what the workspace holds."
ROUNDS = 100
SLICE = 3
HANGS = 120  # seconds after which something waits for ever: a guard only

DEEP = "[" * 100_000
TEXTS = (
    "../../victim", "/etc/passwd", "a\0b", "two\nlines", "<script>alert(1)</script>", "'; drop table runs; --", "",
    "x" * 70_000, "\x1b]0;title\a", "CON", "..", ".", "=1+1", "\u202ecod.exe", '{"a": ', "{{}}", "\\\\host\\share\\x",
)  # fmt: skip
NUMBERS = (-1, 0, 2**31, 2**53, 2**62, -(2**63), 1e308, float("inf"), None, "../../victim", "1", b"\xff\xfe")
BROKEN = (
    "", "{", "[1, 2", "null", "7", '"text"', "[]", "{}", DEEP, '{"a": 1e999}', '{"MAP@R": "high", "recall@x": 1}',
    '{"recall@1": 0.5}', '["\\ud800"]', '{"data": 5}', '{"data": {"train": "all", "left_out": 7}}', f"[{'9' * 5000}]",
    '{"order": 5, "ticked": {}}', '[{"outline": "x"}]', '{"separated": 1}', '{"versions": []}', "not json", "\ufffd",
)  # fmt: skip
JSON_COLUMNS = (
    ("runs", "environment"), ("evaluations", "metrics"), ("datasets", "class_names"), ("charts", "charts"),
    ("projections", "params"), ("projections", "versions"), ("projections", "doubts"), ("selections", "samples"),
    ("report_templates", "arrangement"), ("sweeps", "parameters"), ("sweep_trials", "setting"),
    ("experiments", "result"), ("queries", "neighbours"), ("queries", "similarities"), ("deployments", "measured"),
    ("saved_views", "listed"),
)  # fmt: skip
PATH_COLUMNS = (
    ("artefacts", "path"), ("datasets", "pixels"), ("datasets", "root"), ("datasets", "fingerprint"),
    ("samples", "path"),
)  # fmt: skip
FILES = (
    "config.toml", "journal.jsonl", "last.pt", "best.pt", "embeddings-1.npy", "embeddings-2.npy", "ranking-1.npz",
    "ranking-2.npz", "dataset.json", "proxies-2.npz", "experiment.json", "report", "export", "report/figures",
)  # fmt: skip
SCHEMAS = (
    "create trigger t1 after update on runs begin delete from runs; end",
    "create trigger t2 before delete on runs begin select raise(abort, 'no'); end",
    "create trigger t3 after update on runs begin update runs set id = 77 where id = 1; end",
    "create index e1 on runs (abs(id))", "create unique index u1 on runs (status)", "create table songs (id)",
    "create table more (r references runs(id) on delete restrict)",
    "alter table runs add column made text generated always as (name || config) virtual",
    "alter table runs rename to others", "alter table queries add column needed text not null default (hex(1))",
    "drop view neighbours", "create view runs2 as select * from runs",
)  # fmt: skip


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """One workspace made hostile in one to four ways, and every action on it."""
    space, victim = folder / "space", folder / "victim"
    victim.mkdir()
    fill_victim(victim)
    runs = make_space(space)
    add_newer_rows(space)
    ways = [rng.choice(WAYS) for _ in range(rng.randint(1, 4))]
    did = "; ".join(_made_hostile(way, rng, space, victim) for way in ways)
    before = seen(folder, space)
    actions = list(ACTIONS)
    rng.shuffle(actions)
    for action in [*actions, _empty_trash, _repair, _list]:
        what = f"{action.__name__.strip('_')} after {did}"
        try:
            with no_hang(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                action(space, runs)
        except Problem:
            pass
        except AssertionError as error:
            yield Outcome("lost", f"{what}: {error}")
            continue
        except Exception as error:  # noqa: BLE001 - what a person would see as a traceback is what is counted
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            yield Outcome("traceback", f"{what}: {type(error).__name__}: {str(error)[:150]} ({place})")
            continue
        if seen(folder, space) != before:
            yield Outcome("lost", f"{what}: outside the workspace something changed")
            before = seen(folder, space)
        else:
            yield Outcome("survived")


def _made_hostile(way: "Way", rng: random.Random, space: Path, victim: Path) -> str:
    """What it did; where an earlier way left no database, there is nothing more to do to it."""
    try:
        return way(rng, space, victim)
    except sqlite3.Error as error:
        return f"{way.__name__} ({error})"


def fill_victim(victim: Path) -> None:
    (victim / "letters").mkdir()
    (victim / "letters" / "one.txt").write_text("dear\n")
    (victim / "notes.txt").write_text("mine\n")
    (victim / "config.toml").write_text(RunConfig(name="theirs").to_toml())
    np.save(victim / "secret.npy", np.full((12, 6), 7, np.float32))


def seen(folder: Path, space: Path) -> dict[str, bytes | None]:
    """Every file and folder outside the workspace, with its content."""
    found: dict[str, bytes | None] = {}
    for place in sorted(folder.rglob("*")):
        if not place.is_relative_to(space):
            found[str(place.relative_to(folder))] = place.read_bytes() if place.is_file() else None
    return found


def make_space(space: Path) -> list[int]:
    """Three runs, one of them in the trash, and a row in every table."""
    folder, runs = _whole()
    shutil.copytree(folder / "space", space)
    return list(runs)


@cache
def _whole() -> tuple[Path, list[int]]:
    """A folder with the workspace that `make_space` copies, made once in a process, and its runs."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-hostile-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    space = folder / "space"
    with Workspace(space, create=True) as workspace:
        labels = np.arange(12) % 3
        runs = [store_run(workspace, labels, name=name).run_id for name in ("first", "second", "third")]
        evaluation = workspace.evaluations(runs[0])[0].id
        measured = stored_maps.Measured(0.9, 0.9, 12, np.ones(12, np.float32), ())
        points = np.zeros((12, 2), np.float32)
        stored_maps.store_map(workspace, evaluation, "pca", {"a": 1}, 0, points, None, {"numpy": "2"}, measured)
        dataset, ids = workspace.run(runs[0]).dataset_id or 0, workspace.queries(evaluation).sample_ids
        selections.put(workspace, None, selections.Selection(dataset, "some", (int(ids[0]),)))
        tag_sample(workspace, dataset, int(ids[1]), "blur")
        report_templates.store_arrangement(workspace, "own-1", {"title": "Mine", "base": "one-run"})
        report_templates.store_choice(workspace, {"template": "own-1", "runs": runs, "metric": "MAP@R", "at": "best"})
        point = sweeps.Point({"training.epochs": 2}, [(0, 0)])
        sweeps.create(
            workspace, RunConfig(), how="grid", parameters=["training.epochs=1,2"], points=1, metric="MAP@R",
            reported=False, first=[point],
        )  # fmt: skip
        with workspace.writing() as db:
            db.execute("insert into charts (run_id, step, charts) values (1, 1, '[]')")
            db.execute("update runs set status = 'interrupted' where id = 2")
        for name in ("last.pt", "best.pt"):
            (workspace.folder(runs[1]) / name).write_bytes(b"weights")
        (space / "imported-images").mkdir()
        (space / "imported-images" / "third-12.npy").write_bytes(b"pixels")
        workspace.trash(runs[2])
    return folder, runs


def add_newer_rows(space: Path) -> None:
    """A row in tables that a workspace of an earlier version does not have."""
    with Workspace(space) as workspace, workspace.writing() as db:
        db.execute("insert into deployments select id, 'int8 0.001', '{}', '2026' from evaluations")
        db.execute("insert into saved_views (name, listed, changed) values ('hard', '{}', '2026')")


# Ways to make a workspace hostile; each says what it did.


def in_sql(space: Path, *statements: tuple[str, tuple[object, ...]]) -> str:
    """Change rows with every check of SQLite switched off, and leave the schema as it was."""
    with contextlib.closing(sqlite3.connect(space / "workspace.db", isolation_level=None)) as db:
        db.execute("pragma foreign_keys = off")
        db.execute("pragma ignore_check_constraints = on")
        db.execute("pragma writable_schema = on")
        was = db.execute("select name, sql from sqlite_master where type = 'table' and sql like '%strict'").fetchall()
        db.execute("update sqlite_master set sql = replace(replace(sql, ', strict', ''), ' strict', '')")
        db.execute("pragma writable_schema = reset")
        said = ""
        for sql, values in statements:
            try:
                db.execute(sql, values)
            except sqlite3.Error as error:
                said = f" ({error})"
        db.execute("pragma writable_schema = on")
        db.executemany("update sqlite_master set sql = ?2 where type = 'table' and name = ?1", was)
        db.execute("pragma writable_schema = reset")
    return f"{statements[0][0][:70]} {str(statements[0][1])[:70]}{said}"


def _broken_json(rng: random.Random, space: Path, victim: Path) -> str:
    table, column = rng.choice(JSON_COLUMNS)
    return in_sql(space, (f'update {table} set "{column}" = ?', (rng.choice(BROKEN),)))


def _path(rng: random.Random, space: Path, victim: Path) -> str:
    table, column = rng.choice(PATH_COLUMNS)
    secret = str(victim / "secret.npy")
    name = rng.choice((secret, "../../../victim/secret.npy", "../../victim", str(victim), "/dev/zero", *TEXTS))
    return in_sql(space, (f'update or ignore {table} set "{column}" = ?', (name,)))


def _cell(rng: random.Random, space: Path, victim: Path) -> str:
    with contextlib.closing(sqlite3.connect(space / "workspace.db")) as db:
        tables = [name for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
        table = rng.choice([name for name in sorted(tables) if not name.startswith("sqlite")])
        columns = db.execute(f"pragma table_info({table})").fetchall()
    column, kind = rng.choice([(row[1], row[2].lower()) for row in columns])
    honest = rng.random() < 0.7  # of the type that the column has: such a file is opened
    fitting = [each for each in NUMBERS if isinstance(each, int) or (kind == "real" and isinstance(each, float))]
    value = rng.choice(TEXTS if kind == "text" else fitting) if honest else rng.choice((*NUMBERS, *TEXTS))
    return in_sql(space, (f'update or ignore {table} set "{column}" = ?', (value,)))


def _not_utf8(rng: random.Random, space: Path, victim: Path) -> str:
    table, column = rng.choice(
        (*JSON_COLUMNS, *PATH_COLUMNS, ("runs", "name"), ("runs", "config"), ("tags", "tag"), ("sample_tags", "tag"))
    )
    return in_sql(space, (f"update {table} set \"{column}\" = cast(x'ff5c2e2eff' as text)", ()))


def _config(rng: random.Random, space: Path, victim: Path) -> str:
    text = rng.choice(("", "name = ", "a = " + DEEP, "seed = " + "9" * 5000, "[dataset]\nname = 7", *TEXTS))
    if rng.random() < 0.5:
        place = space / "runs" / rng.choice(("1", "2")) / "config.toml"
        with contextlib.suppress(OSError):
            if place.is_file() and not place.is_symlink() and not place.parent.is_symlink():
                place.write_text(text, "utf-8")
        return f"config.toml {text[:40]!r}"
    table = rng.choice(("runs", "experiments", "sweeps"))
    return in_sql(space, (f"update {table} set config = ?", (text,)))


def odd_ids(rng: random.Random, space: Path, victim: Path) -> str:
    """A table declared anew, so that its ids may be anything; sometimes under the schema of before."""
    name = rng.choice(("../../victim", str(victim), "../victim", "..", 2**62, -1, 1.5, None))
    table = rng.choice(("runs", "runs", "runs", "evaluations", "artefacts", "datasets"))
    with contextlib.closing(sqlite3.connect(space / "workspace.db", isolation_level=None)) as db:
        kept = db.execute("select sql from sqlite_master where type = 'table' and name = ?", (table,)).fetchone()
        if kept is None:
            return f"no {table}"
        declare_anew(db, table)
        db.execute(f"update {table} set id = ? where id = (select max(id) from {table})", (name,))
        if table == "runs":
            db.execute("update runs set trashed = '2026-01-01T00:00:00+00:00' where id is ?", (name,))
        lies = rng.random() < 0.4
        if lies:
            db.execute("pragma writable_schema = on")
            db.execute("update sqlite_master set sql = ? where type = 'table' and name = ?", (kept[0], table))
            db.execute("pragma writable_schema = reset")
    return f"id {name!r} in {table}{' under our schema' if lies else ''}"


def declare_anew(db: sqlite3.Connection, table: str) -> None:
    """The table with ids of any kind, as a foreign program may declare it."""
    ((was,),) = db.execute("select sql from sqlite_master where type = 'table' and name = ?", (table,)).fetchall()
    columns = was[was.index("(") :].removesuffix(" strict").replace("id integer primary key", "id text primary key", 1)
    db.execute("pragma foreign_keys = off")
    db.execute("pragma legacy_alter_table = on")
    db.execute(f"create table loose {columns}")
    db.execute(f"insert into loose select * from {table}")
    db.execute(f"drop table {table}")
    db.execute(f"alter table loose rename to {table}")


def _schema(rng: random.Random, space: Path, victim: Path) -> str:
    return in_sql(space, (rng.choice(SCHEMAS), ()))


def _hidden(rng: random.Random, space: Path, victim: Path) -> str:
    """A trigger that has the name of a table, and comes before it in the schema, or that of SQLite's counts."""
    name = rng.choice(("saved_views", "sqlite_stat1"))
    with contextlib.closing(sqlite3.connect(space / "workspace.db", isolation_level=None)) as db:
        db.execute("pragma writable_schema = on")
        sql = f"CREATE TRIGGER {name} after update on runs begin delete from runs; end"
        db.execute("insert into sqlite_master values ('trigger', ?, 'runs', 0, ?)", (name, sql))
        db.execute("update sqlite_master set rowid = rowid + 1000 where tbl_name = 'saved_views'")
    return f"a trigger {name}"


def _log(rng: random.Random, space: Path, victim: Path) -> str:
    """A journal that names a file outside, which SQLite 3.40 deletes, or a log of 256 MB without room on the disk."""
    if rng.random() < 0.5:
        place = space / "workspace.db-wal"
        if not place.is_symlink():
            place.write_bytes(rng.choice((b"", b"\x37\x7f\x06\x82")))
            os.truncate(place, 1 << 28)
        return "a log of 256 MB"
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(victim / "notes.txt")
    head = magic + struct.pack(">5I", 0, 0, (space / "workspace.db").stat().st_size // 4096, 512, 4096)
    tail = struct.pack(">I", 2**18 + 1) + name + struct.pack(">2I", len(name), sum(name)) + magic
    place = space / "workspace.db-journal"
    if not place.is_symlink():
        place.write_bytes(head.ljust(512, b"\0") + tail)
    return "a journal that names a letter"


def link(rng: random.Random, space: Path, victim: Path) -> str:
    """A link in the place of a file or folder of the workspace."""
    places = ["runs", "imported-images", "workspace.db-wal", "workspace.db-shm", "workspace.db", "runs/1", "runs/3"]
    place = space / rng.choice([*places, *(f"runs/{rng.choice('12')}/{name}" for name in FILES)])
    target = rng.choice((victim, victim / "notes.txt", victim / "secret.npy", victim / "new.txt", victim / "letters"))
    with contextlib.suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        if place.exists() or place.is_symlink():
            place.rename(place.with_name(f"{place.name}-was"))
        place.symlink_to(target)
    return f"{place.relative_to(space)} -> {target.name}"


def no_file(rng: random.Random, space: Path, victim: Path) -> str:
    """A pipe or a folder in the place of a file, or bytes that mean nothing."""
    place = space / "runs" / rng.choice("12") / rng.choice(FILES)
    how = rng.choice(("pipe", "folder", "bytes"))
    with contextlib.suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        if place.is_symlink() or place.parent.is_symlink():
            return "nothing more"
        if place.exists():
            place.rename(place.with_name(f"{place.name}-was"))
        if how == "pipe" and hasattr(os, "mkfifo"):
            os.mkfifo(place)
        elif how == "folder":
            place.mkdir()
        else:
            place.write_bytes(rng.randbytes(200))
    return f"a {how} as {place.relative_to(space)}"


def _name(rng: random.Random, space: Path, victim: Path) -> str:
    text = rng.choice(TEXTS)
    names = json.dumps([text, "<b>b</b>", "../c"])
    return in_sql(
        space, ("update runs set name = ?", (text,)), ("update runs set note = ?", (text,)),
        ("update datasets set class_names = ?", (names,)), ("update samples set class = ?", (text,)),
        ("update experiments set name = ?", (text,)),
    )  # fmt: skip


def _tags_of_images(rng: random.Random, space: Path, victim: Path) -> str:
    """Tags that nobody could give; two images of it, and two values of an attribute of one."""
    tags = [f"{rng.choice((*TEXTS, 'view', 'path', 'tags'))}={rng.choice(TEXTS)}" for _ in range(2)]
    change = "update or ignore sample_tags set tag = ?"
    more = (
        "insert or ignore into sample_tags (dataset_id, sample_id, tag, created) "
        "select dataset_id, id, ?, '' from samples limit 2"
    )
    return in_sql(space, (change, (rng.choice(TEXTS),)), *((more, (tag,)) for tag in tags))


Way = Callable[[random.Random, Path, Path], str]
WAYS: tuple[Way, ...] = (
    _broken_json, _broken_json, _path, _path, _cell, _cell, _cell, _not_utf8, _config, odd_ids, odd_ids, _schema,
    link, link, link, no_file, _name, _hidden, _log, _tags_of_images, _tags_of_images,
)  # fmt: skip


# What a person does


def _list(space: Path, runs: list[int]) -> None:
    for command in (["list", "runs"], ["sweep", "list"]):
        cli.main([*command, "--workspace", str(space)])


def _rename(space: Path, runs: list[int]) -> None:
    with Workspace(space) as workspace:
        for run in workspace.runs():
            workspace.rename(run.id, "other")
            workspace.set_tags(run.id, ["tag"])


def _read(space: Path, runs: list[int]) -> None:
    """All that the window's pages ask for; one that cannot be read keeps no other from it."""
    with Workspace(space) as workspace:
        asked: list[Callable[[], object]] = [lambda: experiments.every(workspace), lambda: sweeps.every(workspace)]
        asked += [lambda: offered(report_templates.arrangements(workspace)), lambda: report_templates.choice(workspace)]
        asked += [lambda: saved_views.all_views(workspace)]
        for run in workspace.runs():
            asked += [
                lambda run=run: workspace.charts(run.id, 1),
                lambda run=run: workspace.artefacts(run.id, "embeddings"),
            ]
            asked += [
                lambda run=run: workspace.scalars(run.id, "batch/loss"),
                lambda run=run: sweeps.trials(workspace, 1),
            ]
            if (number := run.dataset_id) is not None:
                asked += [lambda number=number: _look(workspace, number)]
                asked += [lambda number=number: selections.all_selections(workspace, number)]
                asked += [lambda number=number: all_tags(workspace, number)]
                asked += [lambda number=number: attribute_names(workspace, number)]
            for each in workspace.evaluations(run.id):
                asked += [lambda each=each: workspace.embeddings(each.id), lambda each=each: workspace.proxies(each.id)]
                asked += [lambda each=each: _near(workspace, each.run_id, each.id)]
                asked += [lambda each=each: newest_deployment(workspace, each.id)]
                asked += [lambda each=each: slices(workspace, each.id)]
                asked += [lambda each=each: all_attributes(workspace, each.id)]
                for made in workspace.projections(each.id):
                    asked += [lambda made=made: workspace.coordinates(made.id)]
                    asked += [lambda made=made: stored_maps.kept_neighbours(workspace, made.id)]
        for ask in asked:
            with contextlib.suppress(Problem):
                ask()


def _look(workspace: Workspace, dataset: int) -> None:
    workspace.samples(dataset)
    pictures = workspace.pictures(dataset)
    for sample in workspace.samples(dataset).ids[:3].tolist():
        with contextlib.suppress(Problem):
            assert not (pictures.thumbnail(sample) == 7).all(), "a file from outside is shown"


def _near(workspace: Workspace, run: int, evaluation: int) -> None:
    for sample in workspace.queries(evaluation).sample_ids[:2].tolist():
        workspace.neighbours(run, sample, evaluation)
        workspace.query(evaluation, sample)


def _resume(space: Path, runs: list[int]) -> None:
    """As far as a resumed run goes before it reads its data."""
    with Workspace(space) as workspace:
        run = workspace.run(runs[1])
        workspace.take_over(run.id)
        writer = recorder.Recorder(workspace, run.id, Control())
        try:
            writer(Status("Loading the engine"))
            RunConfig.from_toml_text(run.config)
            trained_network.best_checkpoint(workspace, run.id).read_bytes()
            writer.forget_after(10)
        finally:
            writer.close()


def _export(space: Path, runs: list[int]) -> None:
    formats = ("config", "csv", "npy", "projector")
    for run in runs[:2]:
        cli.main(["export", str(run), "--workspace", str(space), *(f"--format={each}" for each in formats)])
        place = space / "runs" / str(run) / "export"
        for file in place.glob("*.npy"):
            if place.resolve().is_relative_to(space.resolve()) and file.is_file() and not file.is_symlink():
                assert not (np.load(file) == 7).all(), "a file from outside is exported"


def _report(space: Path, runs: list[int]) -> None:
    sections = ("summary", "settings", "metrics", "classes", "queries", "environment")
    options = ["--format=html", "--format=csv", *(f"--section={each}" for each in sections)]
    for run in runs[:2]:
        cli.main(["report", str(run), "--workspace", str(space), *options])


def _tag(space: Path, runs: list[int]) -> None:
    """A table of tags is read, another is written, and the scores of each tag are printed."""
    table = space / "tags.csv"
    table.write_text("path,view,tags\nclass 00/00000.png,front,blur\n", "utf-8")
    for run in runs[:2]:
        words = ["tags", str(run), "--workspace", str(space)]
        cli.main([*words, "--import", str(table)])
        cli.main([*words, "--export", str(space / "out.csv"), "--json"])


def _delete(space: Path, runs: list[int]) -> None:
    with Workspace(space) as workspace:
        for run in workspace.runs()[:1]:
            workspace.trash(run.id)
            workspace.delete(run.id)


def _empty_trash(space: Path, runs: list[int]) -> None:
    with Workspace(space) as workspace:
        workspace.empty_trash()


def _repair(space: Path, runs: list[int]) -> None:
    cli.main(["doctor", "--repair", "--workspace", str(space)])


ACTIONS: tuple[Callable[[Path, list[int]], None], ...] = (
    _list, _rename, _read, _resume, _export, _report, _tag, _delete, _empty_trash, _repair,
)  # fmt: skip
LOOKING = (_list, _read, _export, _report)  # what shows a workspace and changes nothing in it


@contextlib.contextmanager
def no_hang() -> Iterator[None]:
    """A wait without end is told as TimeoutError, where the system can."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_: object) -> None:
        raise TimeoutError("waits for ever")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
