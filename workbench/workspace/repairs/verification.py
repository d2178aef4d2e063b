"""Reads everything in a workspace once: hashes of files, checksums of rows, SQLite's own check of its pages."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from workbench import files
from workbench.events import LIVE
from workbench.files.unreadable import NO_ARRAY
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.workspace.database import checksums
from workbench.workspace.database.connection import Connection, DatabaseError, explained_errors
from workbench.workspace.database.problems import explain
from workbench.workspace.folders.replaying import shown
from workbench.workspace.measured import arrays, curves, evaluations, galleries
from workbench.workspace.measured.deployments import read_deployment
from workbench.workspace.measured.robustness import checked_robustness
from workbench.workspace.paths import pixel_cache
from workbench.workspace.repairs.own_files import OwnFiles
from workbench.workspace.tables import samples
from workbench.workspace.workspace import Workspace

REPAIR = "`workbench doctor --repair` rebuilds the database from the runs' folders"
WHERE = {
    "embeddings": "select a.path, a.blake2b from evaluations e join artefacts a on a.id = e.embeddings_id",
    "proxies": "select a.path, a.blake2b from evaluations e join artefacts a on a.id = e.proxies_id",
    "maps": "select a.path, a.blake2b from projections p join evaluations e on e.id = p.evaluation_id "
    "join artefacts a on a.id in (p.coordinates_id, p.kept_id)",
    "rankings": "select 'ranking-' || e.epoch || '.npz', e.ranking from evaluations e",
}


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is damaged, or that cannot be checked."""

    what: str  # the file, or what the rows say
    said: str
    good: bool = False  # only a remark


def verify(workspace: Workspace, progress: Progress) -> list[Damage]:
    """Read all of a workspace and name what is damaged; the list is empty if nothing is.

    Args:
        progress: called with what is read (text, done, total); may raise Cancelled.

    Raises:
        Problem: the database cannot be read at all.
    """
    progress("Reading the database", 0, 0)
    damage = _pages(workspace)
    with workspace.reading() as db:
        damage += damaged_rows(db, progress)
    runs = [*workspace.runs(), *workspace.runs(trashed=True)]
    own_files = OwnFiles(workspace, runs)
    for done, run in enumerate(runs):
        progress(f"Reading the files of run {run.id}", done, len(runs))
        try:
            stored = _files(workspace, run.id)
            damage += _deployments(workspace, run.id)
        except Problem as problem:
            damage.append(Damage(f"Run {run.id}", str(problem)))
            continue
        for name, digest in stored:
            try:
                arrays.check_hash(workspace.file(run.id, name), digest)
            except Problem as problem:
                damage.append(Damage(f"Run {run.id}, {shown(Path(name).name)}", str(problem)))
        if not run.live:
            damage += _checkpoints(workspace, run.id)
            damage += [Damage(f"Run {run.id}, {name}", said) for name, said in own_files.foreign(run)]
    return damage + _caches(workspace, progress)


def _pages(workspace: Workspace) -> list[Damage]:
    try:
        with workspace.reading() as db:
            verdicts = [row[0] for row in db.execute("pragma integrity_check(10)")]
    except DatabaseError as error:
        raise explain(error, workspace.database) from None
    return [Damage("Database", f"{verdict}; {REPAIR}.") for verdict in verdicts if verdict != "ok"]


def damaged_rows(db: Connection, progress: Progress) -> list[Damage]:
    """Checksums of all rows; what has none yet is a remark. Raises Problem if SQLite cannot read."""
    checks: list[tuple[str, Callable[[Connection], object]]] = []
    unchecked: list[str] = []
    with explained_errors(db):
        if not checksums.has_sums(db):
            return [Damage("Database", "made by an older Workbench: its rows have no checksums.", good=True)]
        rows = checksums.damaged_rows(db) + checksums.damaged_rows(db, checksums.LATER)
        damage = [Damage("Database", f"{row} is not as it was written; {REPAIR}.") for row in rows]
        for (number,) in db.execute("select id from datasets").fetchall():
            checks.append((f"data set {number}", partial(samples.read_samples, dataset_id=number)))
        sql = "select id, id in (select evaluation_id from evaluation_sums) from evaluations"
        for number, known in db.execute(sql).fetchall():
            checks.append((f"evaluation {number}", partial(_evaluation, evaluation_id=number)))
            unchecked += [] if known else [f"evaluation {number}"]
        sql = "select run_id, name from curve_sums join metrics on id = metric_id order by run_id, name"
        stored = db.execute(sql).fetchall()
        for number in sorted({run for run, _ in stored}):
            checks.append((f"curves of run {number}", partial(curves.scalar_names, run_id=number)))
        for number, name in stored:
            checks.append((f"{name} of run {number}", partial(curves.scalars, run_id=number, name=name)))
        sql = (
            f"select id from runs where status not in {LIVE} and id not in (select run_id from curve_sums) "
            "and exists (select 1 from scalar_points where run_id = runs.id)"
        )
        unchecked += [f"curves of run {number}" for (number,) in db.execute(sql)]
    for done, (words, check) in enumerate(checks):
        progress(f"Reading {words}", done, len(checks))
        try:
            with explained_errors(db):
                check(db)
        except Problem as problem:
            damage.append(Damage("Database", str(problem)))
    if unchecked:
        said = f"{len(unchecked):,} parts have no checksum (written by an older Workbench, or a run that was killed)"
        damage.append(Damage("Database", f"{said}: {', '.join(unchecked[:5])}.", good=True))
    return damage


def _evaluation(db: Connection, evaluation_id: int) -> None:
    evaluations.read_queries(db, evaluation_id)
    checksums.check_queries(db, evaluation_id)


def _deployments(workspace: Workspace, run_id: int) -> list[Damage]:
    """The newest measurements of Deployment and Robustness that cannot be shown."""
    return [
        Damage(f"Run {run_id}, {tab} of epoch {evaluation.epoch}", f"{said} Measure it again.")
        for evaluation in workspace.evaluations(run_id)
        for tab, said in (
            ("Deployment", read_deployment(workspace, evaluation.id)[1]),
            ("Robustness", checked_robustness(workspace, evaluation.id)[1]),
        )
        if said
    ]


def _files(workspace: Workspace, run_id: int) -> list[tuple[str, str]]:
    """Names and hashes of a run's files."""
    with workspace.reading() as db:
        rows = [row for sql in WHERE.values() for row in db.execute(f"{sql} where e.run_id = ?", (run_id,)).fetchall()]
    return rows + [(path.name, digest) for path, digest in galleries.stored_files(workspace.folder(run_id))]


def _checkpoints(workspace: Workspace, run_id: int) -> list[Damage]:
    """Checkpoints that differ from their hash; only a remark where their own sums are right."""
    with workspace.reading() as db:
        sql = "select path, blake2b from artefacts where run_id = ? and kind = 'checkpoint'"
        rows = db.execute(sql, (run_id,)).fetchall()
    damage = []
    for name, digest in rows:
        try:
            path = workspace.file(run_id, name)
        except Problem as problem:
            damage.append(Damage(f"Run {run_id}, {shown(Path(name).name)}", str(problem)))
            continue
        try:
            if path.exists() and files.digest(path) != digest:
                if arrays.broken_member(path) is not None:
                    raise ValueError
                said = "is not the one that was recorded: newer, written just before the program was killed, or damaged"
                damage.append(Damage(f"Run {run_id}, {name}", f"The file {path} {said}.", good=True))
        except NO_ARRAY:
            said = f"The file {path} is damaged. Resume and search with another checkpoint of the run."
            damage.append(Damage(f"Run {run_id}, {name}", said))
    return damage


def _caches(workspace: Workspace, progress: Progress) -> list[Damage]:
    """Caches of decoded images that differ from their hashes by blocks."""
    from workbench.datasets.cache.pixel_blocks import damage, read_side

    with workspace.reading() as db:
        rows = db.execute("select id, name, pixels from datasets where pixels != ''").fetchall()
    damages = []
    for number, name, pixels in rows:
        cache = pixel_cache(pixels, workspace.path)
        if cache is None or not cache.with_suffix(".json").is_file():
            continue
        try:
            stored = read_side(cache)[1]
            harm = "" if stored is None else damage(cache, stored, progress)
        except (OSError, ValueError, TypeError):
            harm = "it cannot be read"
        if harm:
            said = f"The cache {cache} is damaged: {harm}. The next run decodes the images again."
            damages.append(Damage(f"Data set {number} ({name})", said))
    return damages
