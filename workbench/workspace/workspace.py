"""The public door to a workspace: a folder with one database and one folder per run."""

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import files, jobs
from workbench.charts import Chart, from_plain
from workbench.files import parts
from workbench.files.unreadable import refusing
from workbench.problem import Problem
from workbench.workspace import arrays, checksums, ownership, reading, sealing
from workbench.workspace.columns import Unreadable, parsed
from workbench.workspace.connection import Connection, new_id, open_reader, open_writer, told, writing
from workbench.workspace.dataset_copy import keep_experiment, register
from workbench.workspace.deletion import delete_run
from workbench.workspace.migrations import migrate
from workbench.workspace.paths import inside, originals, regular, whole
from workbench.workspace.rows import LIVE, Dataset, Evaluation, Neighbour, Projection, Queries, Query, Run, Samples
from workbench.workspace.run_folders import next_number
from workbench.workspace.schema import check_schema

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.datasets.image_set import ImageSet
    from workbench.datasets.pictures import Pictures

DATABASE = "workspace.db"
RUNS = "runs"  # the folder of the runs' folders


def now() -> str:
    """This moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Workspace:
    """Runs, curves, evaluations, neighbours and maps in one folder; see docs/workspace.md for the schema.

    Safe to call from any thread. Reading and writing are short; nothing is cached.

    Args:
        path: the folder.
        create: make the folder and the database when they are missing.

    Raises:
        Problem: not a workspace, damaged, made by a newer Workbench, or a folder that cannot be read.
    """

    def __init__(self, path: Path | str, create: bool = False) -> None:
        self.path = Path(path)
        self.database = self.path / DATABASE
        self._lock, self._read_lock = threading.RLock(), threading.RLock()
        if create and not os.path.exists(self.database):
            self._make_folder()
        self.read_only = os.path.exists(self.database) and not (
            os.access(self.path, os.W_OK) and os.access(self.database, os.W_OK)
        )
        if self.read_only:
            self._db = open_reader(self.database)
        else:
            self._db = open_writer(self.database, create=create)
        try:
            with told(self._db):
                check_schema(self._db, self.database)
            if not self.read_only:
                migrate(self._db, self.database)
        except BaseException:
            self._db.close()
            raise
        self._reader = self._db if self.read_only else open_reader(self.database)
        try:
            with self.reading() as db:
                checksums.check_small(db)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the object is of no use afterwards."""
        with self._lock, self._read_lock:
            self._reader.close()
            self._db.close()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reader(self) -> Connection:
        """A new read-only connection, for a table model or a follower; the caller closes it."""
        return open_reader(self.database)

    def folder(self, run_id: int) -> Path:
        """Where a run keeps its config, checkpoints, embeddings and journal. Raises Problem for no number or a link."""
        return inside(self.path, f"{RUNS}/{whole(run_id, 'a run')}")

    def file(self, run_id: int, name: str) -> Path:
        """A file or folder of a run, whether or not it is there. Raises Problem as `paths.inside`."""
        return inside(self.folder(run_id), name)

    def has_file(self, run_id: int, name: str) -> bool:
        """Whether a run has a file of its own of that name; a link is none."""
        try:
            return regular(self.file(run_id, name)).exists()
        except Problem:
            return False

    # Reading

    def runs(self, trashed: bool = False) -> list[Run]:
        """All runs, newest first; with `trashed` those in the trash instead."""
        with self.reading() as db:
            return reading.runs(db, "trashed is not null" if trashed else "trashed is null", ())

    def run(self, run_id: int) -> Run:
        """One run, in the trash or not. Raises Problem when there is none of that number."""
        with self.reading() as db:
            found = reading.runs(db, "id = ?", (run_id,))
        if not found:
            raise Problem(f"There is no run {run_id} in {self.path}.", todo="`workbench list runs` shows them.")
        return found[0]

    def scalar_names(self, run_id: int) -> list[str]:
        with self.reading() as db:
            return reading.scalar_names(db, run_id)

    def scalars(self, run_id: int, name: str) -> tuple[np.ndarray, np.ndarray]:
        """One curve: steps [n] int64 and values [n] float64 with NaN and infinity where training met them."""
        with self.reading() as db:
            return reading.scalars(db, run_id, name)

    def chart_steps(self, run_id: int) -> list[int]:
        """The steps at which the run's method drew its own pictures, rising."""
        with self.reading() as db:
            return [step for (step,) in db.execute("select step from charts where run_id = ? order by step", (run_id,))]

    def charts(self, run_id: int, step: int) -> list[Chart]:
        """What the run's method drew at that step. Raises Problem when it drew nothing then."""
        with self.reading() as db:
            row = db.execute("select charts from charts where run_id = ? and step = ?", (run_id, step)).fetchone()
            checksums.check_charts(db, run_id, step)
        if row is None:
            raise Problem(f"Run {run_id} has no charts at step {step}.")
        try:
            return [from_plain(each) for each in parsed(row[0], list)]
        except (Unreadable, TypeError, KeyError, ValueError) as error:
            raise Problem(
                f"The charts of run {run_id} at step {step} could not be read ({error}).", kept="The others are kept."
            ) from None

    def evaluations(self, run_id: int) -> list[Evaluation]:
        with self.reading() as db:
            return reading.evaluations(db, "run_id", run_id)

    def evaluation(self, evaluation_id: int) -> Evaluation:
        with self.reading() as db:
            found = reading.evaluations(db, "id", evaluation_id)
        if not found:
            raise Problem(f"There is no evaluation {evaluation_id} in {self.path}.")
        return found[0]

    def embeddings(self, evaluation_id: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sample ids [n] int64, labels [n] int64 and embeddings [n, d] float32 (a read-only memory map)."""
        path, _ = self._artefact(evaluation_id, "embeddings_id") or (Path(), "")
        with jobs.meanwhile(lambda: arrays.hash_ahead(path)):
            queries = self.queries(evaluation_id)
        return queries.sample_ids, queries.labels, self.vectors(evaluation_id)

    def vectors(self, evaluation_id: int) -> np.ndarray:
        """The embeddings alone, [n, d] float32 (a read-only memory map)."""
        found = self._artefact(evaluation_id, "embeddings_id")
        if found is None:
            raise Problem(f"There is no evaluation {evaluation_id} in {self.path}.")
        vectors, sql = arrays.read_array(*found), "select count(*) from queries where evaluation_id = ?"
        with self.reading() as db:
            count = db.execute(sql, (evaluation_id,)).fetchone()[0]
        return arrays.check_count(found[0], vectors, count, "embeddings")

    def proxies(self, evaluation_id: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Class proxies at that evaluation: vectors [p, d] float32 and labels [p] int64; None for losses without."""
        found = self._artefact(evaluation_id, "proxies_id")
        if found is None:
            return None
        stored = arrays.read_arrays(found[0], ("vectors", "labels"), found[1])
        return stored["vectors"], arrays.check_count(found[0], stored["labels"], len(stored["vectors"]), "labels")

    def queries(self, evaluation_id: int) -> Queries:
        with self.reading() as db:
            return reading.queries(db, evaluation_id)

    def query(self, evaluation_id: int, sample_id: int) -> Query:
        with self.reading() as db:
            return reading.query(db, evaluation_id, sample_id)

    def neighbours(self, run_id: int, query: int, evaluation_id: int | None = None) -> list[Neighbour]:
        """The stored neighbours of a query, best first; of the run's last evaluation unless one is named."""
        with self.reading() as db:
            if evaluation_id is None:
                every = reading.evaluations(db, "run_id", run_id)
                if not every:
                    raise Problem(f"Run {run_id} has no evaluation yet.")
                evaluation_id = every[-1].id
            return reading.neighbours(db, evaluation_id, query)

    def dataset(self, dataset_id: int) -> Dataset:
        with self.reading() as db:
            return reading.dataset(db, dataset_id, self.path)

    def samples(self, dataset_id: int) -> Samples:
        with self.reading() as db:
            return reading.samples(db, dataset_id)

    def pictures(self, dataset_id: int) -> "Pictures":
        """Images of a data set by sample id: from the pixel cache, in full from the original file."""
        from workbench.datasets.pictures import Pictures

        data, samples = self.dataset(dataset_id), self.samples(dataset_id)
        ids = samples.ids.tolist()
        files_of = dict(zip(ids, originals(data.root, samples.paths), strict=True)) if data.root else {}
        return Pictures(dict(zip(ids, samples.rows.tolist(), strict=True)), data.pixels, files_of, data.image_size > 0)

    def projections(self, evaluation_id: int) -> list[Projection]:
        with self.reading() as db:
            return reading.projections(db, evaluation_id)

    def coordinates(self, projection_id: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Points [n, 2] float32 in the order of the embeddings, and proxies [p, 2] or None."""
        with self.reading() as db:
            row = db.execute(
                "select a.run_id, a.path, a.blake2b, (select count(*) from queries where evaluation_id = "
                "p.evaluation_id) from projections p join artefacts a on a.id = p.coordinates_id where p.id = ?",
                (projection_id,),
            ).fetchone()
        if row is None:
            raise Problem(f"There is no map {projection_id} in {self.path}.")
        path = self.file(row[0], row[1])
        stored = arrays.read_arrays(path, ("points", "proxies?"), row[2])
        return arrays.check_count(path, stored["points"], row[3], "points"), stored.get("proxies")

    def artefacts(self, run_id: int, kind: str) -> list[Path]:
        """Files of one kind ('checkpoint', 'report', ...) of a run, oldest first. Reports may lie elsewhere."""
        with self.reading() as db:
            rows = db.execute(
                "select path from artefacts where run_id = ? and kind = ? order by id", (run_id, kind)
            ).fetchall()
        if kind == "report":
            return [self.folder(run_id) / path for (path,) in rows]
        return [self.file(run_id, path) for (path,) in rows]

    # Writing

    def create_run(self, config: "RunConfig", experiment: int | None = None) -> int:
        """A new queued run with its folder and config file, perhaps one of an experiment's; returns its number."""
        text = config.to_toml()
        values = (config.name, text, config.seed, config.dataset.name, config.loss.name, config.backbone.name, now())
        with self.writing() as db:
            run_id = next_number(db, self.path / "runs")
            db.execute(
                "insert into runs (id, name, config, seed, dataset, loss, backbone, created, status, epochs, colour, "
                "experiment_id) values (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, (select count(*) from runs), ?)",
                (run_id, *values, config.training.epochs, experiment),
            )
            ownership.own(db, "runs", run_id)
        self.folder(run_id).mkdir(parents=True, exist_ok=True)
        with files.atomic_write(self.file(run_id, "config.toml")) as file:
            file.write(text.encode())
        if experiment is not None:
            with self.reading() as db:
                keep_experiment(db, experiment, self.folder(run_id))
        return run_id

    def take_over(self, run_id: int) -> None:
        """Make a run that nobody works on this process's own, queued to be resumed. Raises Problem naming the owner."""
        with self.writing() as db:
            ownership.take_run(db, run_id)

    def beat(self) -> None:
        """Give a sign of life of every run that this process has, for those who look from another machine."""
        with self.writing() as db:
            ownership.beat(db)

    def rename(self, run_id: int, name: str) -> None:
        self._set(run_id, "name", name)

    def set_note(self, run_id: int, note: str) -> None:
        self._set(run_id, "note", note)

    def set_colour(self, run_id: int, colour: int) -> None:
        self._set(run_id, "colour", colour)

    def set_tags(self, run_id: int, tags: list[str]) -> None:
        with self.writing() as db:
            db.execute("delete from tags where run_id = ?", (run_id,))
            wanted = sorted({tag.strip() for tag in tags if tag.strip()})
            db.executemany("insert into tags (run_id, tag) values (?, ?)", [(run_id, tag) for tag in wanted])

    def set_status(self, run_id: int, status: str, problem: str = "") -> None:
        """Set a run's state from outside of it, as when a queued run is withdrawn."""
        with self.writing() as db:
            db.execute("update runs set status = ?, problem = ? where id = ?", (status, problem, run_id))
            if status not in LIVE:
                sealing.seal_curves(db, run_id)

    def trash(self, run_id: int) -> None:
        """Put a run into the trash; nothing is deleted. Raises Problem while it is running."""
        self.run(run_id)
        with self.writing() as db:
            ownership.mark_dead_runs(db)
            ownership.refuse_while_working(db, run_id, ("running", "waiting"))
            db.execute("update runs set trashed = ? where id = ?", (now(), run_id))

    def restore(self, run_id: int) -> None:
        self._set(run_id, "trashed", None)

    def delete(self, run_id: int) -> None:
        """Delete a run in the trash for ever, with its folder and images that were imported for it alone.

        Raises:
            Problem: it is not in the trash.
        """
        run = self.run(run_id)
        if run.trashed is None:
            raise Problem("Only a run in the trash can be deleted.", kept="It was not changed.")
        delete_run(self, run)

    def empty_trash(self) -> int:
        """Delete every run in the trash; returns how many."""
        gone = self.runs(trashed=True)
        for run in gone:
            self.delete(run.id)
        return len(gone)

    def sweep_dead_runs(self) -> list[int]:
        """Mark runs whose owner is gone (see ownership.py) as interrupted; returns their numbers."""
        with self.reading() as db:
            if self.read_only or not ownership.dead_runs(db):
                return []
        with self.writing() as db:
            dead = ownership.mark_dead_runs(db)
        for run_id in dead:
            parts.remove_dead(self.folder(run_id))
        return dead

    def register_dataset(self, image_set: "ImageSet", pixels: Path | None) -> int:
        """The number of a data set, stored with its samples at the first time; `pixels` is its cache, None without."""
        with self.writing() as db:
            dataset_id = register(db, image_set, pixels)
            if db.execute("select 1 from sample_sums where dataset_id = ?", (dataset_id,)).fetchone() is None:
                sealing.seal_samples(db, dataset_id)
            return dataset_id

    def add_artefact(self, run_id: int, kind: str, path: Path, step: int | None = None) -> int:
        """Record a file, with its size and hash; inside the run's folder it is stored by its relative path."""
        with self.writing() as db:
            return add_artefact(db, self.folder(run_id), run_id, kind, path, step)

    def add_projection(
        self,
        evaluation_id: int,
        method: str,
        params: dict[str, Any],
        seed: int,
        points: np.ndarray,
        proxies: np.ndarray | None,
        trustworthiness: float | None,
        versions: dict[str, str],
        more: dict[str, Any] | None = None,
    ) -> int:
        """Store a map: points [n, 2] in the order of the embeddings, proxies [p, 2] or None; returns its number.

        `more` are further columns of its row: stored_maps.store_map fills them.
        """
        run_id = self.evaluation(evaluation_id).run_id
        stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
        path = self.file(run_id, f"map-{evaluation_id}-{method}-{stamp}.npz")
        arrays = {"points": points.astype(np.float32)}
        if proxies is not None:
            arrays["proxies"] = proxies.astype(np.float32)
        with files.atomic_write(path) as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        with self.writing() as db:
            artefact = add_artefact(db, self.folder(run_id), run_id, "projection", path, None)
            facts = {
                "evaluation_id": evaluation_id, "coordinates_id": artefact, "method": method,
                "params": json.dumps(params), "seed": seed, "trustworthiness": trustworthiness,
                "versions": json.dumps(versions), "created": now(), **(more or {}),
            }  # fmt: skip
            sql = f"insert into projections ({', '.join(facts)}) values ({', '.join('?' * len(facts))})"
            return new_id(db.execute(sql, tuple(facts.values())))

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction of this workspace; raises Problem when it is read-only, full or locked."""
        if self.read_only:
            raise Problem(f"The workspace {self.path} is open for reading only.", kept="It was not changed.")
        with self._lock, writing(self._db) as db:
            yield db
            checksums.seal(db)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Reading has a connection of its own: the window never waits for what a run is writing. Raises Problem."""
        with self._read_lock, told(self._reader) as db:
            yield db

    def _make_folder(self) -> None:
        todo = "Choose a folder where you may write."
        with refusing(lambda why: Problem(f"The folder {str(self.path)[:200]} cannot be made ({why}).", todo=todo)):
            (self.path / "runs").mkdir(parents=True, exist_ok=True)

    def _set(self, run_id: int, column: str, value: object) -> None:
        with self.writing() as db:
            db.execute(f'update runs set "{column}" = ? where id = ?', (value, run_id))

    def _artefact(self, evaluation_id: int, column: str) -> tuple[Path, str] | None:
        """Where a file of an evaluation lies, and its hash."""
        sql = f'select a.run_id, a.path, a.blake2b from evaluations e join artefacts a on a.id = e."{column}"'
        with self.reading() as db:
            row = db.execute(f"{sql} where e.id = ?", (evaluation_id,)).fetchone()
        return None if row is None else (self.file(row[0], row[1]), row[2])


def add_artefact(
    db: Connection, folder: Path, run_id: int, kind: str, path: Path, step: int | None, digest: str | None = None
) -> int:
    """One row for one whole file; a file written again keeps its number. It is hashed here unless `digest` is given."""
    stored = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    stored = os.fsencode(stored).decode("utf-8", "backslashreplace")  # a name that is no UTF-8 as it is shown
    try:
        values = (run_id, kind, stored, path.stat().st_size, files.digest(path) if digest is None else digest)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Problem(f"{path} cannot be recorded ({reason}).", kept="The rest of the run is kept.") from None
    db.execute(
        "insert into artefacts (run_id, kind, path, bytes, blake2b, step, created) values (?, ?, ?, ?, ?, ?, ?) "
        "on conflict (run_id, path) do update set bytes = excluded.bytes, blake2b = excluded.blake2b, "
        "step = excluded.step, created = excluded.created",
        (*values, step, now()),
    )
    return int(db.execute("select id from artefacts where run_id = ? and path = ?", (run_id, stored)).fetchone()[0])
