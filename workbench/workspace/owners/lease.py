"""Which machine uses a workspace on a network disk: a file beside the database, with a heartbeat.

SQLite's write-ahead log needs memory that all processes share, which two machines do not have. On such a disk the
database therefore has no log, and one machine opens it at a time, with any number of processes, because on one machine
SQLite's own locks work. The file is created so that only one of two machines succeeds. Each transaction checks it
first: a machine that was suspended while another took over notices that and writes nothing.

No clock is trusted: whether the holder is alive is found by watching its heartbeat, or by the file server's times of
two files.
"""

import contextlib
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

import psutil

from workbench import files, jobs
from workbench.files.mounts import shared_kind
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.owners import lease_holder, ownership
from workbench.workspace.owners.lease_holder import NAME, Holder, Leased, held_elsewhere, read

BEAT = 20.0  # seconds between two heartbeats
WATCHED = 50.0  # seconds without a heartbeat before a lease is taken over
LOOK = 0.5  # seconds between two checks while waiting
TRIES = 3
LENGTH = 1024  # bytes, as it is written


@dataclass
class Lease:
    """The lease of one workspace, shared by everything that this process has open in it."""

    folder: Path
    kind: str  # of the file system
    users: int = 0
    count: int = 0
    beating: ExitStack = field(default_factory=ExitStack)

    @property
    def path(self) -> Path:
        """The file that names the holder."""
        return self.folder / NAME

    @property
    def shared(self) -> bool:
        """Whether something else of this machine has the workspace open: in this process, or the one that is named."""
        holder = read(self.folder)
        return self.users > 1 or (holder is not None and holder.here and holder.pid != os.getpid())

    def hold(self) -> None:
        """Acquire the lease for this machine. Raises Leased if another machine has it."""
        for _ in range(TRIES):
            holder = read(self.folder)
            if holder is not None and not holder.here:
                raise held_elsewhere(self.folder, self.kind, holder)
            if holder is not None and (holder.pid == os.getpid() or not holder.alive):
                self._write()
            if holder is not None:
                return
            if self._make():  # else another program was faster
                self._read_back()
                return
        raise Leased(self.folder, f"The file {self.path} changes all the time.", "Try again in a moment.")

    def _read_back(self) -> None:
        """Raises Problem on a disk that does not keep the file, because another machine would not see it, either."""
        made = read(self.folder)
        if made is None or not made.here:
            raise Problem(
                f"The network disk ({self.kind}) of {self.folder} does not keep the file {NAME} as it was written.",
                kept="The workspace was not opened.",
                todo="Put it on a disk of this machine; runs may write folders here (`run --folder`).",
            )

    def check(self) -> None:
        """Raises Problem unless this machine still has the lease; called in each transaction."""
        holder = read(self.folder)
        if holder is None:  # the process that wrote it has closed the workspace
            self.hold()
        elif not holder.here:
            raise Problem(
                f"The workspace {self.folder} was taken over by {holder.host} while this machine was silent.",
                kept="What was written before is kept; nothing was written since.",
                todo="Close it there before you open it here again.",
            )

    def beat(self) -> None:
        """Write a heartbeat, also in place of another process of this machine that has ended. Raises Problem."""
        holder = read(self.folder)
        if holder is not None and holder.here and (holder.pid == os.getpid() or not holder.alive):
            self._write()

    def give_up(self) -> None:
        """Remove the file, if it names this process."""
        with contextlib.suppress(Problem, OSError):
            holder = read(self.folder)
            if holder is not None and holder.here and holder.pid == os.getpid():
                self.path.unlink()

    def take_from(self, before: Holder) -> None:
        """Replace a holder that was watched by this process. Raises Leased if another was faster."""
        now = read(self.folder)
        if now != before:
            raise Leased(self.folder, f"The file {self.path} has changed just now.", "Try again in a moment.")
        self._write()

    def _content(self) -> bytes:
        self.count += 1
        born = ownership.start_of(psutil.Process())
        beat = datetime.now(UTC).isoformat(timespec="seconds")
        holder = Holder(
            machine=lease_holder.machine(),
            host=socket.gethostname(),
            pid=os.getpid(),
            born=born,
            beat=beat,
            count=self.count,
        )
        # Always of the same length: a network disk may return new content only up to the length that it has cached.
        return holder.model_dump_json().encode().ljust(LENGTH)

    def _make(self) -> bool:
        """Create the file with its full content; False if another program was faster."""
        draft = self.folder / f".lease-{uuid.uuid4().hex[:8]}.draft"
        try:
            draft.write_bytes(self._content())
            try:
                os.link(draft, self.path)
            except FileExistsError:
                return False
            except OSError as error:  # a disk without hard links; sshfs also reports this if the file exists
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
    """Acquire the lease of a workspace, with a heartbeat until `give_back` was called as often as `take`.

    Raises:
        Leased: another machine has it, or had it and did not release it.
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
    """Make this machine drop its cache of a database that another machine may have changed.

    sshfs caches a file's length for 20 seconds, so that the database looks damaged; changing its time ends that.
    """
    for path in (database, database.with_name(f"{database.name}-journal")):
        with contextlib.suppress(OSError):
            os.utime(path)


def give_back(lease: Lease) -> None:
    """Undo one `take`; the last one ends the heartbeat and removes the file."""
    with _lock:
        lease.users -= 1
        if not lease.users:
            _leases.pop(os.path.realpath(lease.folder), None)
            lease.beating.close()
            lease.give_up()


@contextlib.contextmanager
def held(database: Path) -> Iterator[Lease | None]:
    """Hold the lease of a database's workspace for the block; None on a disk of this machine, or a read-only one.

    For what changes the files of a workspace without opening it as a Store. Raises Leased and Problem as `take`.
    """
    kind = shared_kind(database.parent)
    if not kind or not os.access(database.parent, os.W_OK):
        yield None
        return
    taken = take(database.parent, kind)
    try:
        look_again(database)
        yield taken
    finally:
        give_back(taken)


def take_over(folder: Path, progress: Progress = quiet) -> None:
    """Acquire a lease whose holder wrote no heartbeat for WATCHED seconds.

    Args:
        progress: called with the seconds; may raise Cancelled.

    Raises:
        Leased: the holder wrote a heartbeat meanwhile.
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
