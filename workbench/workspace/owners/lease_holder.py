"""The holder of a workspace's lease, as named in its file, and the Problem about another machine."""

import contextlib
import json
import logging
import socket
import uuid
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

import psutil
from pydantic import BaseModel, Field

from workbench.problem import Problem
from workbench.progress import duration
from workbench.workspace.owners.ownership import began_at
from workbench.workspace.paths import regular

NAME = "workspace.lease"
SILENT = 120.0  # seconds without a heartbeat, by the file server's clock, after which a holder is called silent
WRONG_CLOCK = 300.0  # seconds by which a clock may be wrong before that is reported
LONGEST = 4096  # bytes, as it is read

log = logging.getLogger(__name__)


class Holder(BaseModel):
    """The machine that uses a workspace, and the process that wrote its name."""

    machine: Annotated[str, Field(max_length=64)]
    host: Annotated[str, Field(max_length=255)]
    pid: Annotated[int, Field(ge=0)]
    born: float  # the process's start, seconds since 1970
    beat: Annotated[str, Field(max_length=64)]  # by its clock, ISO 8601
    count: Annotated[int, Field(ge=0)] = 0  # of heartbeats

    @property
    def here(self) -> bool:
        """Whether it is this machine."""
        return self.machine == machine()

    @property
    def alive(self) -> bool:
        """Whether its process, on this machine, exists."""
        try:
            process = psutil.Process(self.pid)
            return process.status() != psutil.STATUS_ZOMBIE and began_at(process, self.born)
        except (psutil.Error, OverflowError, ValueError):
            return False


class Leased(Problem):
    """Another machine has the workspace; `lease.take_over` finds out whether it is still active."""

    def __init__(self, folder: Path, what: str, todo: str) -> None:
        super().__init__(what, kept="Nothing was changed.", todo=todo)
        self.folder = folder


@cache
def machine() -> str:
    """A unique name of this machine, even if others have its host name or, as copies, its machine id."""
    known = ""
    with contextlib.suppress(OSError):
        known = Path("/etc/machine-id").read_text("ascii", "replace").strip()
    return blake2b(f"{known} {_card()} {socket.gethostname()}".encode(), digest_size=16).hexdigest()


def _card() -> str:
    """The address of a network card; empty where there is none."""
    node = uuid.getnode()
    if not node >> 40 & 1:  # else Python found no card and drew a number, which is another one in each process
        return str(node)
    cards = Path("/sys/class/net").glob("*/device")  # not the bridges of containers, which come and go
    with contextlib.suppress(OSError):
        return min((card.with_name("address").read_text("ascii", "replace").strip() for card in cards), default="")
    return ""


def read(folder: Path) -> Holder | None:
    """The holder in the file; None without the file. An unreadable file gives an unknown holder."""
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
    """The Problem for a workspace of another machine: whether its heartbeat is recent, and whether a clock is wrong."""
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
    """Seconds since the last heartbeat by the file server's clock, which times both files; None if it is unknown."""
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
    """Seconds by which the holder's clock is ahead of this machine's, by its last heartbeat."""
    try:
        said = datetime.fromisoformat(holder.beat)
        return (said - datetime.now(UTC)).total_seconds() + (age or 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.0
