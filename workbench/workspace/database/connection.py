"""How the workspace's database is opened and written: one place for the pragmas, the checks and the transactions."""

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePath
from time import monotonic, sleep, time
from typing import TYPE_CHECKING
from urllib.parse import quote

from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.database import write_ahead
from workbench.workspace.database.problems import Busy, Damaged, Gone, Missing, explain, no_workspace
from workbench.workspace.database.rollback_journal import check_names_no_file
from workbench.workspace.paths import opened as opened_file
from workbench.workspace.paths import regular

if TYPE_CHECKING:
    import sqlite3 as sqlite3
else:
    # The SQLite of sqlite-utils: two SQLite libraries in one process release each other's file locks, so all
    # modules take it from here. sqlite-utils itself takes a twentieth of a second to load: it comes with a new schema.
    try:
        import pysqlite3 as sqlite3
    except ImportError:
        import sqlite3

APPLICATION_ID = 0x444D4C57  # "DMLW": tells a workspace from any other SQLite file
SET = "workbench"  # the name of our steps of the schema
WITH_LOG = b"\2\2"  # bytes 18 and 19 of a database with a write-ahead log
READABLE_UP_TO = 2  # of `user_version`: raised only when an older Workbench could no longer read the file
CHECKED_UP_TO = 64 << 20  # bytes; the whole-file check of a larger database would delay the window ...
# ... and is made of its other tables alone: these grow with images and steps.
GROWING = (
    "samples", "scalar_points", "queries", "charts", "projections", "evaluation_sums", "sample_sums", "curve_sums",
)  # fmt: skip
CACHE_KIB = 32 << 10  # the indexes of an evaluation's queries stay in memory while its rows are written
ALONE = "unix-excl"  # of SQLite's ways to open a file: the index of the log is in memory, and no other program gets in
LOOK_EVERY = 1.0  # seconds between two checks that the database is still there
WAIT = 10.0  # seconds for another writer
# When SQLite has the disk take what it wrote: before a log is written over, or with each change of a rollback journal.
SYNCHRONOUS = {"log": "normal", "journal": "full"}
ASK_EVERY = 20_000  # instructions of SQLite, about a millisecond: then a statement asks whether to go on
ASK_CHECK_EVERY = 500  # pages and references, while the whole file is checked
IN_THE_MAKING = 2.0  # seconds that a new database may be empty
READABLE = partial(str, encoding="utf-8", errors="replace")  # invalid UTF-8 is shown with replacement characters

Connection = sqlite3.Connection
DatabaseError = sqlite3.DatabaseError
IntegrityError = sqlite3.IntegrityError
OperationalError = sqlite3.OperationalError


def open_writer(
    path: Path, *, create: bool = False, wal: bool = True, alone: bool = False, progress: Progress = quiet,
    declared: Callable[[Connection, Path], object] | None = None,
) -> Connection:  # fmt: skip
    """The writing connection: WAL, foreign keys, explicit transactions only.

    Args:
        path: of the database. create: make it if it is missing.
        wal: False on a network disk, where a write-ahead log cannot work because machines do not share memory: a
            rollback journal is used instead. An existing log is written into the database first.
        alone: keep other programs out. Only so can a database be opened on a disk without a free byte: what programs
            share of the log is a file. All connections of this program are then opened so.
        progress: asked while the log and the file are checked; it may raise Cancelled.
        declared: checks what the database declares, before its rows are read: reading them may compute what it says.

    Raises:
        Problem: as `declared`, or the file is missing, empty, damaged, of another program or cannot be written.
    """
    _look_before_opening(path, create)
    _check_log(path, progress)
    try:
        connection = _connect(path, "rwc", alone)
    except sqlite3.DatabaseError as error:
        raise explain(error, path) from None
    try:
        if not wal:  # before the first read, so that an existing log needs no shared memory
            connection.execute("pragma locking_mode = exclusive")
        with hearing(connection, progress, ASK_CHECK_EVERY):
            _check(connection, path, declared)
        if wal:
            connection.execute("pragma journal_mode = wal")
        else:
            _leave_log(connection, path)
        _set_pragmas(connection, SYNCHRONOUS["log" if wal else "journal"])
        connection.execute("pragma journal_size_limit = 67108864")
        connection.execute(f"pragma cache_size = {-CACHE_KIB}")
        if not connection.execute("select count(*) from sqlite_master").fetchone()[0]:  # new, or killed while new
            connection.execute(f"pragma application_id = {APPLICATION_ID}")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain(error, path) from None
    except UnicodeDecodeError:  # SQLite's own words about a damaged schema
        connection.close()
        raise Damaged(path) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str, alone: bool, still: bool = False) -> Connection:
    options = f"{f'&vfs={ALONE}' if alone else ''}{'&immutable=1' if still else ''}"
    uri = f"{address(path.resolve())}?mode={mode}{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)
    connection.text_factory = READABLE
    return connection


def address(path: PurePath) -> str:
    """The URI of an absolute path for SQLite, which refuses the host that `as_uri` writes of a share of Windows.

    In Python 3.14 `as_uri` also loads the HTTP client of the standard library, before the first paint.
    """
    place = quote(os.fsencode(path.as_posix()), safe="/:")
    return f"file://{place}" if place.startswith("/") else f"file:///{place}"


def _leave_log(connection: Connection, path: Path) -> None:
    """Take the database out of WAL mode, if it is in it, and release the lock that this takes. Raises Busy."""
    (mode,) = connection.execute("pragma journal_mode = delete").fetchone()
    connection.execute("pragma locking_mode = normal")
    connection.execute("select count(*) from sqlite_master").fetchone()  # the next read releases the lock
    if mode == "wal":
        raise Busy(f"The workspace {path.parent} is open in another program.", todo="Close that program first.")


def open_reader(path: Path, *, opened: bool = False, alone: bool = False, progress: Progress = quiet) -> Connection:
    """A read-only connection of its own; the caller closes it. `alone`, `progress` and Problems: as `open_writer`.

    `opened` says that another connection of this program has the database open. Its log was checked then and is not
    read again: that takes longer than most questions, and SQLite drops damaged changes only at the first opening. What
    changes the log later is read as it is; the checksums of rows find it at the next opening (`check_small`).
    """
    _look_before_opening(path, create=False)
    if not opened:
        _check_log(path, progress)
    still = lying_still(path) is not None
    try:
        # Alone, SQLite needs one connection of the program that may write; this one does not.
        connection = _connect(path, "rw" if alone and not opened else "ro", alone, still)
        connection.execute("pragma query_only = on")
        connection.execute("pragma trusted_schema = off")
    except sqlite3.DatabaseError as error:
        raise explain(error, path) from None
    return connection


def lying_still(path: Path) -> tuple[int, int] | None:
    """What tells that a database has changed which no program has open, where this one may make no log; else None.

    SQLite reads such a database without a log or locks; it makes a log for any other, which a read-only disk refuses.

    Raises:
        Problem: it has a log without its index, which cannot be made there: what is in it cannot be read.
    """
    if os.access(path.parent, os.W_OK):
        return None
    log, index, journal = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm", "-journal"))
    if index.exists() or not _keeps_log(path):
        return None
    if any(part.exists() and part.stat().st_size for part in (log, journal)):
        raise Problem(
            f"The last changes of the workspace {path.parent} are still in a file beside its {path.name}, and can only "
            "be read where you may write.",
            kept="Nothing was changed.",
            todo="Copy the whole folder to a place where you may write, and open the copy.",
        )
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


def _keeps_log(path: Path) -> bool:
    """Whether its header names a write-ahead log: with a rollback journal nothing has to be made to read it."""
    with opened_file(path) as file:
        return file.read(20)[18:] == WITH_LOG


def memory() -> Connection:
    """An empty database in memory; the caller closes it."""
    return sqlite3.connect(":memory:", isolation_level=None)


@contextlib.contextmanager
def at_one_moment(db: Connection) -> Iterator[Connection]:
    """Read inside one transaction, of which others may be a part; nothing is written."""
    own = not db.in_transaction
    if own:
        db.execute("begin")
    try:
        yield db
    finally:
        if own and db.in_transaction:
            db.execute("rollback")


@contextlib.contextmanager
def writing(connection: Connection) -> Iterator[Connection]:
    """One transaction that waits its turn: all of it or nothing. The only way to write.

    Raises:
        Problem: disk full, locked for longer than WAIT, read-only or damaged; nothing was written.
    """
    try:
        connection.execute("begin immediate")
        try:
            yield connection
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        connection.execute("commit")
    except sqlite3.DatabaseError as error:
        if connection.in_transaction:
            connection.execute("rollback")
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise explain(error, file_of(connection)) from error


@contextlib.contextmanager
def explained_errors(connection: Connection) -> Iterator[Connection]:
    """Turn errors of SQLite inside the block into a Problem: locked, damaged or truncated, or gone."""
    try:
        yield connection
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise explain(error, file_of(connection)) from error
    except ValueError as error:  # text where a number belongs, broken JSON
        raise Damaged(file_of(connection), str(error).partition("\n")[0]) from error


@contextlib.contextmanager
def hearing(connection: Connection, progress: Progress, every: int = ASK_EVERY) -> Iterator[None]:
    """Inside the block statements of this connection ask `progress`, which may raise Cancelled; blocks are not nested.

    The statement then ends as one that failed, a transaction around it is rolled back, and Cancelled leaves the block.
    """
    heard = False

    def ask() -> bool:
        nonlocal heard
        try:
            progress("Reading the workspace", 0, 0)
        except Cancelled:
            heard = True
        return heard

    if progress is not quiet:
        connection.set_progress_handler(ask, every)
    try:
        yield
    except (Problem, sqlite3.DatabaseError):
        if heard:
            raise Cancelled from None
        raise
    finally:
        connection.set_progress_handler(None, 0)


def new_id(cursor: "sqlite3.Cursor") -> int:
    """The number of the row that an insert just made."""
    assert cursor.lastrowid is not None
    return cursor.lastrowid


class InPlace:
    """Checks that a database is still the same file, at most once a second, because a drive may be slow."""

    def __init__(self, path: Path) -> None:
        self._path, self._looked, self._gone = path, monotonic(), False
        self._file = self._found(None)

    def check(self, at_once: bool = False) -> None:
        """Raises Gone if another file, or none, has the database's name; `at_once` checks now in any case."""
        if at_once or self._gone or monotonic() - self._looked >= LOOK_EVERY:
            self._looked, self._gone = monotonic(), self._found(self._file) != self._file
        if self._gone:
            raise Gone(self._path)

    def _found(self, otherwise: tuple[int, int] | None) -> tuple[int, int] | None:
        """The file of that name, None if there is none; `otherwise` if the drive cannot tell."""
        try:
            facts = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return otherwise
        return facts.st_dev, facts.st_ino


def has_size(path: Path) -> bool:
    """Whether the file has content, now or soon: another program may be making it at this moment."""
    until = monotonic() + IN_THE_MAKING
    while path.stat().st_size == 0:
        if time() - path.stat().st_mtime > IN_THE_MAKING or monotonic() > until:
            return False
        sleep(0.01)
    return True


def _has_folders(runs: Path) -> bool:
    return runs.is_dir() and any(entry.is_dir() for entry in runs.iterdir())


def _look_before_opening(path: Path, create: bool) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        regular(path.with_name(f"{path.name}{ending}"))  # SQLite would write through a link
    check_names_no_file(path)
    if not os.path.exists(path):
        if create and not _has_folders(path.parent / "runs"):
            return
        if create:
            raise Missing(path)
        raise no_workspace(path)
    if not has_size(path):
        if _has_folders(path.parent / "runs"):
            raise Damaged(path)
        if not create:  # its making was interrupted: it is empty
            raise Problem(
                f"{path.parent} is not a workspace yet: its {path.name} is empty.",
                todo="Start a run there, or choose another.",
            )
    if not os.access(path, os.R_OK):
        raise Problem(f"The workspace {path.parent} may not be read.", todo="Ask for permission to read it.")


def _check_log(path: Path, progress: Progress) -> None:
    """Raises Problem if the write-ahead log holds changes that SQLite would leave out."""
    if not os.path.exists(path):
        return
    copy = write_ahead.set_aside(path, progress)
    if copy is not None:
        raise Problem(
            f"The last changes of the workspace {path.parent} cannot be read: {path.name}-wal is damaged.",
            kept=f"What was written before them and the runs' folders are intact; the log is kept as {copy.name}.",
            todo="Open it again to go on without them, or run `workbench doctor --repair`.",
        )


def _check(connection: Connection, path: Path, declared: Callable[[Connection, Path], object] | None) -> None:
    tables = connection.execute("select count(*) from sqlite_master").fetchone()[0]
    application = connection.execute("pragma application_id").fetchone()[0]
    if tables and application != APPLICATION_ID:
        raise Problem(f"{path} is an SQLite file of another program.", kept="It was not changed.")
    if declared is not None:
        declared(connection, path)
    if tables:
        check_pages(connection, path)


def check_pages(connection: Connection, path: Path) -> None:
    """Raises Damaged if pages of the file name each other wrongly: reading them might never end.

    Of a file of more than CHECKED_UP_TO bytes the tables GROWING are left out.
    """
    checks = ["pragma quick_check(1)"]
    if path.stat().st_size > CHECKED_UP_TO:
        stored = connection.execute("select name from sqlite_master where type = 'table' and rootpage > 0").fetchall()
        checks = [f'pragma quick_check("{name}")' for (name,) in stored if name not in GROWING]
    if any(connection.execute(check).fetchone()[0] != "ok" for check in checks):
        raise Damaged(path)


def _set_pragmas(connection: Connection, synchronous: str) -> None:
    connection.execute(f"pragma synchronous = {synchronous}")
    connection.execute("pragma foreign_keys = on")
    connection.execute("pragma trusted_schema = off")


def file_of(connection: Connection) -> Path:
    """The database of a connection."""
    return Path(connection.execute("pragma database_list").fetchone()[2] or "memory")
