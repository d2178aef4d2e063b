"""The owner of a run or a sweep: one process of one machine, identified by its start, with a heartbeat.

Where the owner's process can be seen it decides: it exists, is no zombie, and began at the time in the row; on Linux
also if the clock was set since. Elsewhere, on another machine or in another container, the heartbeat decides: an owner
without one for SILENT seconds counts as gone. Machines may have one name, as containers often do: a row names the host
as `this_host`. Each time that a process takes a run it gets a new token, so that a process that lost the run (on a
suspended laptop) finds another token in its row.
"""

import contextlib
import json
import os
import socket
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from math import floor, inf
from pathlib import Path
from typing import Literal

import psutil

from workbench.events import LIVE
from workbench.problem import Problem, RunTaken
from workbench.workspace.database.connection import Connection
from workbench.workspace.times import now

SAME_START = 60.0  # seconds by which two readings of a process's start may differ if the clock was set
SILENT = 120.0  # seconds without a heartbeat after which an owner on another machine counts as gone
AHEAD = 3600.0  # seconds by which another machine's clock may be ahead; later heartbeats are ignored
STARTS = 100_000  # hashes of starts, as fractions of a second; SQLite writes 15 digits of a number as JSON
APART = "#"  # between a host's name and its mark
BEAT = 20.0  # seconds between two heartbeats
GONE = "The program that ran it ended. What was saved is kept."
UNSENT = "The program that sent it to its place ended before the place had it. Resume sends it."
HALF_IMPORTED = "The program that imported it ended before all of it was stored. Delete it, and import it again."
HALF_TESTED = "The program that tested its network ended before all of it was stored. Delete it, and test again."
HALF_CURVES = "The program that imported its curves ended before all were stored. Import them again: the rest is added."
OF_TEST = "json_valid(environment) and json_type(environment, '$.imported.network') is not null"
OF_CURVES = "json_valid(environment) and json_type(environment, '$.curves') is not null"
NEVER_SENT = "id in (select run_id from placements where job = '')"
COLUMNS = {"runs": "pid, host, born, heartbeat, owner", "sweeps": "pid, host, born, beat, null"}

_BOOTED = float(psutil.boot_time())  # seconds since 1970, by the clock as this program began
_held: set[str] = set()  # tokens of the runs that this process has


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that a row names."""

    pid: int | None
    host: str | None
    born: float | None  # seconds since 1970; None in rows of older versions
    beat: str | None  # last heartbeat, ISO 8601 in UTC
    token: str | None = None  # unique for each time that a run is taken; None for sweeps

    def __str__(self) -> str:
        return f"process {self.pid} of {str(self.host).partition(APART)[0]}"

    @property
    def here(self) -> bool:
        """Whether it is this process."""
        return (self.pid, self.host, self.born) == (os.getpid(), this_host(), _born(os.getpid()))

    @property
    def alive(self) -> bool:
        """Whether it is alive: by its process where that can be seen, by its heartbeat elsewhere."""
        if not isinstance(self.pid, int) or self.pid <= 0:
            return False
        if not is_here(self.host):
            return -AHEAD < age(self.beat) < SILENT
        if self.token is not None and self.here:
            return self.token in _held
        try:
            process = psutil.Process(self.pid)
            if process.status() == psutil.STATUS_ZOMBIE:  # it ended, but its parent lives
                return False
            if not isinstance(self.born, int | float):
                return -AHEAD < age(self.beat) < SILENT
            return began_at(process, self.born)  # process numbers are reused
        except (psutil.Error, OverflowError):
            return False

    @property
    def hands_over(self) -> bool:
        """Whether it has just let another process take the run, which still starts."""
        return self.pid is None and self.host is None and -AHEAD < age(self.beat) < SILENT


def began_at(process: psutil.Process, born: float) -> bool:
    """Whether a process of this machine began at that time, by the clock as it was then or as this program began.

    A system derives the start from its clock: setting that moves the start of every process. On Linux the fraction of
    `start_of` identifies the start however often the clock was set. Raises psutil.Error.
    """
    fraction = _start_hash(process.pid)
    if fraction is not None and abs(born % 1 - fraction) < 0.5 / STARTS:
        return True
    started, set_by = float(process.create_time()), float(psutil.boot_time()) - _BOOTED
    return min(abs(started - born), abs(started - set_by - born)) < SAME_START


def start_of(process: psutil.Process) -> float:
    """The start of a process in seconds since 1970; on Linux the fraction of the second is a hash of the start.

    Programs of older versions, which compare the seconds, read it as well. Raises psutil.Error.
    """
    started, fraction = float(process.create_time()), _start_hash(process.pid)
    return started if fraction is None else floor(started) + fraction


def _start_hash(pid: int) -> float | None:
    """Boot and time since boot at which a process began, hashed to a fraction; None on other systems than Linux."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
        ticks = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19]
    except (OSError, IndexError):
        return None
    return int.from_bytes(blake2b(boot + b" " + ticks, digest_size=4).digest(), "big") % STARTS / STARTS


def this_host() -> str:
    """This machine's name, and on Linux a mark that tells its processes from those of a namesake or a container."""
    mark = _mark()
    return f"{_host_name()}{APART}{mark}" if mark else _host_name()


def is_here(host: str | None) -> bool:
    """Whether this process sees those of a host; rows of older versions, and of other systems, name it alone."""
    return host in (this_host(), _host_name())


@cache
def _host_name() -> str:
    """The machine's name as this program first asked: that of a Mac changes with its network, and a run's may not."""
    return socket.gethostname()


@cache
def _mark() -> str:
    """A hash of the machine's id and the namespace of its process numbers; empty on other systems than Linux."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    known = b""
    with contextlib.suppress(OSError):
        known = Path("/etc/machine-id").read_bytes().strip()
    return blake2b(known + namespace.encode(), digest_size=4).hexdigest()


@cache
def _born(pid: int) -> float:
    """The start of this process, in seconds since 1970; cached by its number, which a forked child does not share."""
    return start_of(psutil.Process(pid))


def age(beat: object) -> float:
    """Seconds since a heartbeat; infinite if it cannot be read."""
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(str(beat))).total_seconds()
    except (TypeError, ValueError):
        return inf


def owner_of(db: Connection, table: Literal["runs", "sweeps"], number: int) -> Owner | None:
    """The owner in a row; None if there is no such row."""
    row = db.execute(f"select {COLUMNS[table]} from {table} where id = ?", (number,)).fetchone()
    return None if row is None else Owner(*row)


def own(db: Connection, table: Literal["runs", "sweeps"], number: int) -> None:
    """Write this process as the owner; a run gets a new token."""
    beat = COLUMNS[table].split(", ")[3]
    values = (os.getpid(), this_host(), _born(os.getpid()), datetime.now(UTC).isoformat(timespec="seconds"))
    db.execute(f"update {table} set pid = ?, host = ?, born = ?, {beat} = ? where id = ?", (*values, number))
    if table == "runs":
        token = uuid.uuid4().hex
        db.execute("update runs set owner = ? where id = ?", (token, number))
        _held.add(token)


def here() -> dict[str, object]:
    """This process as in a run folder: pid, host and born."""
    return {"pid": os.getpid(), "host": this_host(), "born": _born(os.getpid())}


def name_sender(db: Connection, run_id: int) -> None:
    """Write this process as that of a run that it sends to a place: if it ends before, nobody else sends the run."""
    beat = datetime.now(UTC).isoformat(timespec="seconds")
    values = (os.getpid(), this_host(), _born(os.getpid()), beat, run_id)
    db.execute("update runs set pid = ?, host = ?, born = ?, heartbeat = ? where id = ?", values)


def take_run(db: Connection, run_id: int) -> None:
    """Make this process the run's owner and queue it, in the current transaction: exactly one of several succeeds.

    A run in the trash is restored: what trains is not deleted with the trash.

    Raises:
        Problem: there is no such run, or a process is training it; names the process.
    """
    owner = owner_of(db, "runs", run_id)
    if owner is None:
        raise Problem(f"There is no run {run_id}.", todo="`workbench list runs` shows them.")
    refuse_while_working(db, run_id, LIVE)
    own(db, "runs", run_id)
    db.execute("update runs set status = 'queued', problem = '', phase = '', trashed = null where id = ?", (run_id,))


def give_up(db: Connection, run_id: int) -> None:
    """Let another process take this process's run, soon. Raises RunTaken if it is not this process's."""
    release(hold(db, run_id))
    sql = "update runs set pid = null, host = null, born = null, owner = null, heartbeat = ? where id = ?"
    db.execute(sql, (now(), run_id))


class Working(Problem):
    """A living process works on a run."""


def refuse_while_working(db: Connection, run_id: int, states: tuple[str, ...]) -> None:
    """Raise Working, which names the owner while a living one has the run in one of these states."""
    owner = owner_of(db, "runs", run_id)
    ((status,),) = db.execute("select status from runs where id = ?", (run_id,)).fetchall()
    if owner is not None and status in states and owner.alive:
        raise Working(
            f"Run {run_id} is still working: {owner} has it.", kept="It was not changed.", todo="Stop it there first."
        )


def hold(db: Connection, run_id: int) -> str:
    """The token under which this process writes the run. Raises RunTaken if the run is not this process's."""
    owner = owner_of(db, "runs", run_id)
    if owner is None or owner.token is None or not owner.here:
        raise _of_another(db, run_id, owner)
    _held.add(owner.token)
    return owner.token


def check(db: Connection, run_id: int, token: str) -> None:
    """Raise RunTaken unless the run still has that token; call it in the transaction that is about to write."""
    owner = owner_of(db, "runs", run_id)
    if owner is None or owner.token != token:
        raise taken(run_id, owner)


def release(token: str) -> None:
    """This process no longer trains that run, even if its end could not be recorded."""
    _held.discard(token)


def taken(run_id: int, owner: Owner | None) -> RunTaken:
    """The Problem for a run that is not, or no longer, this process's."""
    event = "is gone from its workspace" if owner is None else f"was taken over: {owner} has it"
    return RunTaken(f"Run {run_id} {event}.", kept="What was recorded before is kept; nothing was written since.")


def unqueued(run_id: int, status: str) -> RunTaken:
    """The Problem for a run that is to be trained and that no process has queued."""
    return RunTaken(
        f"Run {run_id} is {status}, and not queued to be trained.",
        kept="It was not changed.",
        todo="`prepare_run` makes a new run of its config; `Workspace.take_over` queues this one again, to be resumed.",
    )


def _of_another(db: Connection, run_id: int, owner: Owner | None) -> RunTaken:
    """The Problem for a run that this process is to begin with and does not have."""
    if owner is None:
        return taken(run_id, owner)
    ((status,),) = db.execute("select status from runs where id = ?", (run_id,)).fetchall()
    if status in LIVE and owner.alive:
        what = f"Run {run_id} is {status}: {owner} has it."
        return RunTaken(what, kept="It was not changed.", todo="Stop it there first.")
    return unqueued(run_id, "interrupted" if status in LIVE else status)


def beat(db: Connection) -> None:
    """Renew the heartbeat of every run of this process."""
    states = ", ".join(f"'{status}'" for status in LIVE)
    db.execute(
        f"update runs set heartbeat = ? where status in ({states}) and owner in (select value from json_each(?))",
        (datetime.now(UTC).isoformat(timespec="seconds"), json.dumps(sorted(_held))),
    )


def dead_runs(db: Connection) -> list[int]:
    """Runs that are marked as running or waiting but whose owner is gone.

    A run that waits in a run folder has no owner yet; for a run at a place, the place reports whether it trains. One
    that no place has belongs to the process that sends it.
    """
    states = ", ".join(f"'{status}'" for status in LIVE)
    begun = (
        f"(pid is not null or id not in (select run_id from arrivals) or {NEVER_SENT}) "
        "and (owner is not null or id not in (select run_id from placements where open = 1 and job != ''))"
    )
    sql = f"select id, {COLUMNS['runs']} from runs where status in ({states}) and {begun} order by id"
    rows = db.execute(sql).fetchall()
    owners = [(run_id, Owner(*owner)) for run_id, *owner in rows]
    return [run_id for run_id, owner in owners if not owner.alive and not owner.hands_over]


def mark_dead_runs(db: Connection) -> list[int]:
    """Mark those as interrupted, in the current transaction; returns their numbers."""
    from workbench.config import IMPORTED  # late, for the window's start

    dead = dead_runs(db)
    why = (
        f"case when {NEVER_SENT} then ? when dataset = ? and {OF_TEST} then ? when dataset = ? then ? "
        f"when {OF_CURVES} then ? else ? end"
    )
    sql = f"update runs set status = 'interrupted', problem = {why} where id = ?"
    whys = (UNSENT, IMPORTED, HALF_TESTED, IMPORTED, HALF_IMPORTED, HALF_CURVES, GONE)
    db.executemany(sql, [(*whys, run_id) for run_id in dead])
    return dead
