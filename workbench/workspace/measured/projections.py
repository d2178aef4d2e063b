"""Maps of evaluations: their rows, their points, and a new one stored."""

import contextlib
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench import files
from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.columns import Unreadable, parsed, rows_as_one
from workbench.workspace.database.connection import Connection, new_id
from workbench.workspace.measured import arrays
from workbench.workspace.measured.artefacts import add_artefact, stored_paths
from workbench.workspace.paths import regular
from workbench.workspace.rows import Projection
from workbench.workspace.times import now, stamp

MADE_BY = ("method", "params", "seed", "versions", "start_id")  # columns: two maps that have them alike are one


def read_projections(db: Connection, where: str, values: tuple[Any, ...]) -> list[Projection]:
    """Maps in the order in which they were made."""
    columns = (
        "id, evaluation_id, method, params, seed, trustworthiness, versions, created, continuity, trust_queries, "
        "start_id, kept_id is not null, doubts"
    )
    rows = rows_as_one(db, columns, f"(select * from projections where {where} order by id)", values)
    return [_projection(row) for row in rows]


def _projection(row: list[Any]) -> Projection:
    """One map; if its settings cannot be read its method says so, and no chain of maps uses it."""
    method, params, versions, doubts = row[2], {}, {}, ()
    try:
        params, versions, doubts = parsed(row[3], dict), parsed(row[6], dict), tuple(parsed(row[12], list))
    except Unreadable as error:
        method = f"{method} (its settings could not be read: {error})"
    return Projection(
        id=row[0], evaluation_id=row[1], method=method, params=params, seed=row[4], trustworthiness=row[5],
        versions=versions, created=row[7], continuity=row[8], trust_queries=row[9], start_id=row[10],
        kept=bool(row[11]), doubts=doubts,
    )  # fmt: skip


def stored_file(
    workspace: OpenWorkspace, projection_id: int, column: Literal["coordinates_id", "kept_id"]
) -> tuple[Path, str | None, int] | None:
    """A file of a map, its hash, and the number of points that the map has; None if the map has no such file."""
    with workspace.reading() as db:
        row = db.execute(
            "select a.run_id, a.path, a.blake2b, (select count(*) from queries where evaluation_id = p.evaluation_id) "
            f"from projections p join artefacts a on a.id = p.{column} where p.id = ?",
            (projection_id,),
        ).fetchone()
    return None if row is None else (workspace.file(row[0], row[1]), row[2], row[3])


def read_coordinates(workspace: OpenWorkspace, projection_id: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Points [n, k] float32 in the order of the embeddings, and proxies [p, k] or None. Raises Problem."""
    coordinates = stored_file(workspace, projection_id, "coordinates_id")
    if coordinates is None:
        raise Problem(f"There is no map {projection_id} in {workspace.path}.")
    path, digest, count = coordinates
    stored = arrays.read_arrays(path, ("points", "proxies?"), digest)
    points, proxies = stored["points"], stored.get("proxies")
    arrays.check_form(path, points, (count, 3 if points.shape[1:] == (3,) else 2), "points")
    if proxies is not None:
        arrays.check_form(path, proxies, (None, points.shape[1]), "class vectors")
    return points, proxies


def store_projection(
    workspace: OpenWorkspace,
    evaluation_id: int,
    points: np.ndarray,
    proxies: np.ndarray | None,
    kept: np.ndarray | None,
    columns: dict[str, Any],
) -> int:
    """Store a map: points [n, k] in the order of the embeddings, proxies [p, k] or None; returns its number.

    If another program has stored the same map meanwhile, it is that one's. The files are written in the transaction of
    their rows: of this evaluation's maps, a file without a row is then what a killed program left, and is removed.

    Args:
        kept: shares [n] of neighbours that it keeps, or None.
        columns: of its row, as they are stored; `method` is one of them.
    """
    run_id = workspace.evaluation(evaluation_id).run_id
    folder, name = workspace.folder(run_id), f"{evaluation_id}-{columns['method']}-{stamp()}"
    stored = {"points": points.astype(np.float32)}
    if proxies is not None:
        stored["proxies"] = proxies.astype(np.float32)
    written: list[Path] = []
    try:
        with workspace.writing() as db:
            if db.execute("select 1 from evaluations where id = ?", (evaluation_id,)).fetchone() is None:
                gone = f"The evaluation was deleted while its map was made: run {run_id} does not keep it."
                raise Problem(gone, kept="The evaluations that the run keeps are still available.")
            start = db.execute("select id from projections where id = ?", (columns.get("start_id"),)).fetchone()
            columns = columns | {"start_id": start and start[0]}  # the map that it started from may be gone, too
            same = _same(workspace, db, evaluation_id, columns)
            if same is not None:
                return same
            _remove_unrecorded(db, folder, run_id, evaluation_id)
            with files.atomic_write(_new(workspace, run_id, f"map-{name}.npz", written)) as file:
                np.savez(file, **stored)  # type: ignore[arg-type]
            columns["coordinates_id"] = add_artefact(db, folder, run_id, "projection", written[0], None)
            if kept is not None:
                with files.atomic_write(_new(workspace, run_id, f"kept-{name}.npy", written)) as file:
                    np.save(file, kept.astype(np.float32), allow_pickle=False)
                columns["kept_id"] = add_artefact(db, folder, run_id, "projection", written[1], None)
            row = {"evaluation_id": evaluation_id, "created": now(), **columns}
            sql = f"insert into projections ({', '.join(row)}) values ({', '.join('?' * len(row))})"
            return new_id(db.execute(sql, tuple(row.values())))
    except BaseException:
        for path in written:
            with contextlib.suppress(OSError):
                path.unlink()
        raise


def _new(workspace: OpenWorkspace, run_id: int, name: str, written: list[Path]) -> Path:
    written.append(workspace.file(run_id, name))
    return written[-1]


def _same(workspace: OpenWorkspace, db: Connection, evaluation_id: int, columns: dict[str, Any]) -> int | None:
    """The newest whole map of the evaluation that was made alike; None if there is none."""
    alike = " and ".join(f"p.{column} is ?" for column in MADE_BY)
    sql = (
        "select p.id, a.run_id, a.path, a.blake2b from projections p join artefacts a "
        f"on a.id in (p.coordinates_id, p.kept_id) where p.evaluation_id = ? and {alike} order by p.id desc limit 2"
    )
    rows = db.execute(sql, (evaluation_id, *(columns[column] for column in MADE_BY))).fetchall()
    try:
        for number, run_id, path, digest in rows:
            if number == rows[0][0]:
                arrays.check_hash(workspace.file(run_id, path), digest)
    except Problem:  # missing or damaged: the new one takes its place
        return None
    return int(rows[0][0]) if rows else None


def _remove_unrecorded(db: Connection, folder: Path, run_id: int, evaluation_id: int) -> None:
    known = set(stored_paths(db, run_id, "projection"))
    for path in folder.glob(f"*-{evaluation_id}-*.np[yz]"):
        if path.name.startswith(("map-", "kept-")) and path.name not in known:
            with contextlib.suppress(OSError, Problem):
                regular(path).unlink()
