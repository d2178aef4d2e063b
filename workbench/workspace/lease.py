"""Which machine works in a workspace on a network disk: a file beside the database, with signs of life.

SQLite's log for several readers and a writer needs memory that all of them share: two machines have none. So on such a
disk the database has no log, and one machine opens it at a time, with as many processes as it likes: on one machine
SQLite's own locks work. The file is made so that of two machines only one succeeds. Each transaction looks into it
first: who was suspended while another machine took over finds that out and writes nothing.

No clock is believed: whether the holder lives is seen by watching its signs of life come, or by the file server's
times of two files.
"""

import contextlib
import os
import socket
import threading
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

import psutil

from workbench import files, jobs
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import lease_holder
from workbench.workspace.lease_holder import NAME, Holder, Leased, held_elsewhere, read

BEAT = 20.0  # seconds between two signs of life
WATCHED = 50.0  # seconds without one in which a lease is watched before it is taken over
LOOK = 0.5  # seconds between two looks meanwhile
TRIES = 3
LENGTH = 1024  # bytes, as it is written


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
        """The file that names the holder."""
        return self.folder / NAME

    def hold(self) -> None:
        """Make the lease this machine's. Raises Leased where it is another's."""
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
        """Raises Problem on a disk that does not keep the file: another machine would not see it, either."""
        made = read(self.folder)
        if made is None or not made.here:
            raise Problem(
                f"The network disk ({self.kind}) of {self.folder} does not keep the file {NAME} as it was written.",
                kept="The workspace was not opened.",
                todo="Put it on a disk of this machine; runs may write folders here (`run --folder`).",
            )

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
            machine=lease_holder.machine(),
            host=socket.gethostname(),
            pid=os.getpid(),
            born=born,
            beat=beat,
            count=self.count,
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
