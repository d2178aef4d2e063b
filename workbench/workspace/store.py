"""The folder of a workspace and its two connections: opened and checked here, used by the other modules."""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from workbench.files import parts
from workbench.files.mounts import shared_kind
from workbench.files.new_files import NewFiles
from workbench.files.room import is_full
from workbench.files.unreadable import refusing
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.database import checksums, write_ahead
from workbench.workspace.database.connection import (
    ASK_CHECK_EVERY,
    Connection,
    InPlace,
    check_pages,
    explained_errors,
    hearing,
    lying_still,
    open_reader,
    open_writer,
    writing,
)
from workbench.workspace.database.problems import Full, no_workspace
from workbench.workspace.folders import run_folders
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease import Lease
from workbench.workspace.paths import DATABASE, inside, is_file
from workbench.workspace.schema.schema import check_schema

BESIDE = (f"{DATABASE}-shm", f"{DATABASE}-wal")
BARE = 4096  # bytes of a database without a table


def _is_begun(database: Path) -> bool:
    """Whether a new database has tables, perhaps of another program that made it at the same time."""
    sizes = [path.stat().st_size for path in (database, database.with_name(BESIDE[1])) if path.exists()]
    return bool(sizes) and (sizes[0] > BARE or any(sizes[1:]))


class Store:
    """The base of an open workspace: the paths of its files, and transactions on its database.

    Args:
        path: the folder.
        create: make the folder and the database when they are missing.
        progress: asked while it is opened; it may raise Cancelled: the database is then unchanged or fully upgraded.

    Raises:
        Problem: not a workspace, damaged, made by a newer Workbench, or a folder that cannot be read.
        lease_holder.Leased: it is on a network disk, and another machine has it open.

    Attributes:
        shared_disk: the kind of network disk that it is on, such as "nfs4"; empty on a disk of this machine.
        still: tells a change of a database that no program has open and that cannot be written here; else None.
        alone: it was opened on a disk without a free byte: no other program can open it until `share`.
    """

    def __init__(self, path: Path | str, create: bool = False, progress: Progress = quiet) -> None:
        self.path = Path(path)
        self.database = self.path / DATABASE
        self._lock, self._read_lock = threading.RLock(), threading.RLock()
        self._refuse_file()
        new = NewFiles()
        if create and not os.path.exists(self.database):
            for name in (run_folders.RUNS, DATABASE, *BESIDE):
                new.add(self.path / name)
            self._make_folder()
        self.read_only = os.path.exists(self.database) and not (
            os.access(self.path, os.W_OK) and os.access(self.database, os.W_OK)
        )
        self.shared_disk = shared_kind(self.path)
        self._lease = None if self.read_only or not self.shared_disk else self._take_lease(create)
        try:
            self._open(create, progress)
        except BaseException:
            self._end_lease()
            if not _is_begun(self.database):
                new.remove()
            raise

    def _open(self, create: bool, progress: Progress) -> None:
        self._connect(create, progress)
        self._in_place = InPlace(self.database)
        try:
            with explained_errors(self._db):
                newest = check_schema(self._db, self.database)
            if self.read_only:  # a writer has done so
                with explained_errors(self._db), hearing(self._db, progress, ASK_CHECK_EVERY):
                    check_pages(self._db, self.database)
            if not self.read_only:
                parts.remove_dead(self.path)  # as the copy of an upgrade that was killed
            if not self.read_only and not newest:
                from workbench.workspace.schema.migrations import migrate  # late, for the window's start

                with hearing(self._db, progress):
                    migrate(self._db, self.database, progress)
        except BaseException:
            self._db.close()
            raise
        self._reader = self._db if self.read_only else self.reader()
        try:
            with self.reading() as db, hearing(db, progress):
                checksums.check_small(db, progress)
        except BaseException:
            self._close_database()
            raise

    def _connect(self, create: bool, progress: Progress = quiet) -> None:
        self.alone = False
        try:
            self._db = self._connected(create, progress)
        except Full:
            if self.read_only or self.shared_disk or os.name != "posix":
                raise
            self.alone = True
            self._db = self._connected(create, progress)

    def _connected(self, create: bool, progress: Progress) -> Connection:
        self.still = lying_still(self.database) if self.read_only else None
        if self.read_only:
            return open_reader(self.database, progress=progress)
        return open_writer(
            self.database, create=create, wal=not self.shared_disk, alone=self.alone, progress=progress,
            declared=check_schema,
        )  # fmt: skip

    def close(self) -> None:
        """Close the connection; the object cannot be used afterwards."""
        self._close_database()
        self._end_lease()

    def _close_database(self) -> None:
        with self._lock, self._read_lock:
            self._reader.close()
            self._db.close()

    def _take_lease(self, create: bool) -> Lease:
        if not create and not os.path.exists(self.database):
            raise no_workspace(self.database)
        taken = lease.take(self.path, self.shared_disk)
        lease.look_again(self.database)
        return taken

    def _end_lease(self) -> None:
        if self._lease is not None:
            lease.give_back(self._lease)
            self._lease = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reader(self) -> Connection:
        """A new read-only connection, for a table model or a follower; the caller closes it. Raises Problem, Gone."""
        self._in_place.check(at_once=True)
        return open_reader(self.database, opened=True, alone=self.alone)

    def folder(self, run_id: int) -> Path:
        """The folder of a run's config, checkpoints, embeddings and journal. Raises Problem for no number or a link."""
        return run_folders.folder_of(self.path, run_id)

    def file(self, run_id: int, name: str) -> Path:
        """The path of a file or folder of a run, which may be missing. Raises Problem as `paths.inside`."""
        return inside(self.folder(run_id), name)

    def has_file(self, run_id: int, name: str) -> bool:
        """Whether a run has a regular file of that name; a link does not count."""
        try:
            return is_file(self.file(run_id, name))
        except Problem:
            return False

    def make_folder(self, path: Path) -> None:
        """Make a folder for files about runs. Raises Problem as `run_folders.make_folder`: a deleted run gets none."""
        run_folders.make_folder(self.path, path)

    def share(self) -> None:
        """Let other programs in again where it is open `alone`: connect once more, now that the disk has room.

        It stays `alone` while the disk is full, and while this program has another connection to the database.

        Raises:
            Problem: the database cannot be opened any more.
        """
        with self._lock, self._read_lock:
            if not self.alone or self._db.in_transaction or self._reader.in_transaction or is_full(self.path):
                return
            self._reader.close()
            self._db.close()
            self._connect(create=False)
            self._reader = self.reader()
            self.alone = self.alone or not write_ahead.has_index(self.database)

    @contextlib.contextmanager
    def writing(self, *, though_gone: bool = False) -> Iterator[Connection]:
        """One transaction of this workspace.

        Args:
            though_gone: also write to a database that was deleted: of a run that writes its folder, too, and ends.

        Raises:
            Problem: it is read-only, full or locked; Gone if the database was deleted or replaced.
        """
        if self.read_only:
            raise Problem(f"The workspace {self.path} is open for reading only.", kept="It was not changed.")
        if not though_gone:  # a deleted file takes every change, which is lost with it
            self._in_place.check(at_once=True)
        with self._lock, writing(self._db) as db:
            if self._lease is not None:
                self._lease.check()
            yield db
            checksums.seal(db)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction on a separate connection: the window never waits for what a run is writing. Raises Problem."""
        with self._read_lock:
            self.look_whether_still()
            with explained_errors(self._reader) as db:
                yield db

    def look_whether_still(self) -> None:
        """Connect again where a program that may write has begun to, so that its changes are read. Raises Problem."""
        if self.still is None:
            return
        with self._read_lock:
            if lying_still(self.database) != self.still and not self._reader.in_transaction:
                self._reader.close()
                self._db = self._reader = self._connected(create=False, progress=quiet)

    def _refuse_file(self) -> None:
        if os.path.isfile(self.path):  # False where the name is too long
            what = f"{str(self.path)[:200]} is a file, not the folder of a workspace."
            raise Problem(what, kept="It was not changed.", todo="Choose a folder: an empty one becomes a workspace.")

    def _make_folder(self) -> None:
        todo = "Choose a folder where you may write."
        with refusing(lambda why: Problem(f"The folder {str(self.path)[:200]} cannot be made ({why}).", todo=todo)):
            (self.path / "runs").mkdir(parents=True, exist_ok=True)
