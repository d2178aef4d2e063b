"""Which machine works in a workspace on a network disk: a file beside the database, with signs of life.

SQLite's log for several readers and a writer needs memory that all of them share: two machines have none. So on such a
disk the database has no log, and one machine opens it at a time, with as many processes as it likes: on one machine
SQLite's own locks work. The file is made so that of two machines only one succeeds. Each transaction looks into it
first: who was suspended while another machine took over finds that out and writes nothing.

No clock is believed: whether the holder lives is seen by watching its signs of life come, or by the file server's
times of two files.
"""

import contextlib
import json
import logging
import os
import socket
import threading
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated

import psutil
from pydantic import BaseModel, Field

from workbench import files, jobs
from workbench.problem import Problem
from workbench.progress import Progress, duration, quiet
from workbench.workspace.ownership import SAME_START
from workbench.workspace.paths import regular

NAME = "workspace.lease"
BEAT = 20.0  # seconds between two signs of life
SILENT = 120.0  # seconds without one, by the file server's clock, after which a holder is called silent
WATCHED = 50.0  # seconds without one in which a lease is watched before it is taken over
LOOK = 0.5  # seconds between two looks meanwhile
WRONG_CLOCK = 300.0  # seconds by which a clock may be wrong before that is said
TRIES = 3
LENGTH, LONGEST = 1024, 4096  # bytes: as it is written, as it is read

log = logging.getLogger(__name__)


class Holder(BaseModel):
    """The machine that works in a workspace, and the process of it that says so."""

    machine: Annotated[str, Field(max_length=64)]
    host: Annotated[str, Field(max_length=255)]
    pid: Annotated[int, Field(ge=0)]
    born: float  # the process's start, seconds since 1970
    beat: Annotated[str, Field(max_length=64)]  # by its clock, ISO 8601
    count: Annotated[int, Field(ge=0)] = 0  # of signs of life

    @property
    def here(self) -> bool:
        """Whether it is this machine."""
        return self.machine == machine()

    @property
    def alive(self) -> bool:
        """Whether its process, one of this machine, is there."""
        try:
            process = psutil.Process(self.pid)
            return bool(
                process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - self.born) < SAME_START
            )
        except (psutil.Error, OverflowError, ValueError):
            return False


class Leased(Problem):
    """Another machine has the workspace; `take_over` tells whether it is still there."""

    def __init__(self, folder: Path, what: str, todo: str) -> None:
        super().__init__(what, kept="Nothing was changed.", todo=todo)
        self.folder = folder


@cache
def machine() -> str:
    """A name of this machine that no other has, though two may share a host name or, as copies, a machine id."""
    known = ""
    with contextlib.suppress(OSError):
        known = Path("/etc/machine-id").read_text("ascii", "replace").strip()
    return blake2b(f"{known} {uuid.getnode()} {socket.gethostname()}".encode(), digest_size=16).hexdigest()


@dataclass
class Lease:
    """This process's part in the lease of one workspace, for all that it has open there."""

    folder: Path
    kind: str  # of the file system
    users: int = 0
    count: int = 0
    beating: ExitStack = field(default_factory=ExitStack)

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / NAME

    def hold(self) -> None:
        """Make the lease this machine's. Raises Leased where it is another's."""
        for _ in range(TRIES):
            holder = read(self.folder)
            if holder is not None and not holder.here:
                raise held_elsewhere(self.folder, self.kind, holder)
            if holder is not None and (holder.pid == os.getpid() or not holder.alive):
                self._write()
            if holder is not None or self._make():  # else another program was faster
                return
        raise Leased(self.folder, f"The file {self.path} changes all the time.", "Try again in a moment.")

    def check(self) -> None:
        """Raises Problem unless the lease is still this machine's; asked at each transaction."""
        holder = read(self.folder)
        if holder is None:  # the process that had it has closed the workspace
            self.hold()
        elif not holder.here:
            raise Problem(
                f"The workspace {self.folder} was taken over by {holder.host} while this machine was silent.",
                kept="What was written before is kept; nothing was written since.",
                todo="Close it there before you open it here again.",
            )

    def beat(self) -> None:
        """A sign of life, and this process is the one that gives it where the one before has ended. Raises Problem."""
        holder = read(self.folder)
        if holder is not None and holder.here and (holder.pid == os.getpid() or not holder.alive):
            self._write()

    def give_up(self) -> None:
        """Remove the file, if it is this process's."""
        with contextlib.suppress(Problem, OSError):
            holder = read(self.folder)
            if holder is not None and holder.here and holder.pid == os.getpid():
                self.path.unlink()

    def take_from(self, before: Holder) -> None:
        """Write this process over a holder that was watched. Raises Leased where another was faster."""
        now = read(self.folder)
        if now != before:
            raise Leased(self.folder, f"The file {self.path} has changed just now.", "Try again in a moment.")
        self._write()

    def _content(self) -> bytes:
        self.count += 1
        born = float(psutil.Process().create_time())
        beat = datetime.now(UTC).isoformat(timespec="seconds")
        holder = Holder(
            machine=machine(), host=socket.gethostname(), pid=os.getpid(), born=born, beat=beat, count=self.count
        )
        # Always as long: a network disk may give what is new only up to the length that it remembers.
        return holder.model_dump_json().encode().ljust(LENGTH)

    def _make(self) -> bool:
        """Make the file, whole from its first moment; False where another program was faster."""
        draft = self.folder / f".lease-{uuid.uuid4().hex[:8]}.draft"
        try:
            draft.write_bytes(self._content())
            try:
                os.link(draft, self.path)
            except FileExistsError:
                return False
            except OSError as error:  # a disk without hard links; sshfs says so, too, where the file is there
                return not self.path.exists() and self._make_in_place(error)
        except OSError as error:
            raise files.explain(error, self.path) from error
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
        return True

    def _make_in_place(self, why: OSError) -> bool:
        try:
            with self.path.open("xb") as file:
                file.write(self._content())
        except OSError:
            if self.path.exists():
                return False
            raise why from None
        return True

    def _write(self) -> None:
        with files.atomic_write(self.path) as file:
            file.write(self._content())


_leases: dict[str, Lease] = {}
_lock = threading.RLock()


def take(folder: Path, kind: str) -> Lease:
    """Hold the lease of a workspace, with signs of life until it is given back as often as it was taken.

    Raises:
        Leased: another machine has it, or had it and did not give it back.
        Problem: the folder cannot be written.
    """
    name = os.path.realpath(folder)
    with _lock:
        lease = _leases.get(name) or Lease(folder, kind)
        lease.hold()
        if not lease.users:
            lease.beating.enter_context(jobs.repeating("lease", BEAT, lease.beat))
            _leases[name] = lease
        lease.users += 1
    return lease


def look_again(database: Path) -> None:
    """Make this machine forget what it remembers of a database that another machine may have changed since.

    sshfs remembers a file's length for 20 seconds, and the database then looks damaged; a change of its time, made
    here, ends that.
    """
    for path in (database, database.with_name(f"{database.name}-journal")):
        with contextlib.suppress(OSError):
            os.utime(path)


def give_back(lease: Lease) -> None:
    """The end of one `take`; with the last one the signs of life end, and the file goes."""
    with _lock:
        lease.users -= 1
        if not lease.users:
            _leases.pop(os.path.realpath(lease.folder), None)
            lease.beating.close()
            lease.give_up()


def take_over(folder: Path, progress: Progress = quiet) -> None:
    """Make a lease this machine's after no sign of life of its holder came for WATCHED seconds.

    Args:
        progress: told of the seconds; may raise Cancelled.

    Raises:
        Leased: the holder gave a sign of life meanwhile.
    """
    before, began = read(folder), monotonic()
    if before is None or before.here:
        return
    while (waited := monotonic() - began) < WATCHED:
        progress(f"Watching for signs of life of {before.host}", round(waited), round(WATCHED))
        sleep(LOOK)
        now = read(folder)
        if now is None:
            return
        if now != before:
            raise Leased(
                folder,
                f"The workspace {folder} is open on {now.host}, which gave a sign of life just now.",
                "Close it there.",
            )
    Lease(folder, "").take_from(before)


def read(folder: Path) -> Holder | None:
    """The holder that the file names; None without the file. One that cannot be read is a holder that nobody knows."""
    path = regular(folder / NAME)
    try:
        with path.open("rb") as file:
            return Holder.model_validate(json.loads(file.read(LONGEST)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        log.warning("%s: %s", path, error)
        return Holder(machine="", host="a machine whose lease cannot be read", pid=0, born=0, beat="")


def held_elsewhere(folder: Path, kind: str, holder: Holder) -> Leased:
    """The sentence for a workspace of another machine: whether it gives signs of life, and whether a clock is wrong."""
    age = _age(folder)
    words = [f"The workspace {folder} lies on a network disk ({kind}) and is open on {holder.host}"]
    if age is None:
        words[0] += "."
    elif age < SILENT:
        words[0] += f", which gave a sign of life {duration(max(0.0, age))} ago."
    else:
        words[0] += f", which has given no sign of life for {duration(age)}."
    wrong = _wrong_by(holder, age)
    if abs(wrong) > WRONG_CLOCK:
        behind = "ahead of" if wrong > 0 else "behind"
        words.append(f"The clock of {holder.host} is {duration(abs(wrong))} {behind} this machine's.")
    return Leased(
        folder, " ".join(words),
        "Close it there. If nobody works there any more, take it over: `workbench doctor --take-over` with this "
        "workspace watches for signs of life first. Or copy the folder to a disk of this machine.",
    )  # fmt: skip


def _age(folder: Path) -> float | None:
    """Seconds since the last sign of life by the file server's clock, which times both files; None if it cannot be."""
    probe = folder / f".lease-{uuid.uuid4().hex[:8]}.probe"
    try:
        try:
            probe.write_bytes(b"")
            return probe.stat().st_mtime - (folder / NAME).stat().st_mtime
        finally:
            probe.unlink(missing_ok=True)
    except OSError:
        return None


def _wrong_by(holder: Holder, age: float | None) -> float:
    """Seconds by which the holder's clock is ahead of this machine's, as far as its last sign of life tells."""
    try:
        said = datetime.fromisoformat(holder.beat)
        return (said - datetime.now(UTC)).total_seconds() + (age or 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.0
