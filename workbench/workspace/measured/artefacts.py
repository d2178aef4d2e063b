"""The files of a run in the database: each with its kind, size and hash."""

import os
from pathlib import Path

from workbench import files
from workbench.problem import Problem
from workbench.workspace.database.connection import Connection
from workbench.workspace.times import now


def add_artefact(
    db: Connection, folder: Path, run_id: int, kind: str, path: Path, step: int | None, digest: str | None = None
) -> int:
    """One row for one complete file; a file that is written again keeps its number. `digest` is its hash, if known."""
    stored = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    stored = os.fsencode(stored).decode("utf-8", "backslashreplace")  # a name that is not UTF-8, in its displayed form
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


def stored_paths(db: Connection, run_id: int, kind: str) -> list[str]:
    """The stored paths of a run's files of one kind, oldest first; relative to its folder if they are in it."""
    rows = db.execute("select path from artefacts where run_id = ? and kind = ? order by id", (run_id, kind))
    return [path for (path,) in rows]
