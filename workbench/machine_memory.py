"""Memory that programs here may have: all of the machine, or what a container or a cluster's job is limited to."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

PROC = Path("/proc")
ZFS = PROC / "spl/kstat/zfs/arcstats"
OF_FILES = ("inactive_file", "active_file", "slab_reclaimable")  # what the system gives back when memory is short
OLD = "total_"  # before these names in the first version of control groups, of a group with those in it


@dataclass(frozen=True, slots=True)
class Limit:
    """What Linux limits a control group to: the processes of a container, a service or a job.

    Attributes:
        whole: bytes that it may have.
        used: bytes of them that its programs have, without files that are kept only as long as there is room.
        swap: bytes that it may still move to the disk, where the machine has room for them; None for any number.
    """

    whole: int
    used: int
    swap: int | None

    @property
    def free(self) -> int:
        """Bytes that it may still have."""
        return max(0, self.whole - self.used)


def limit() -> Limit | None:
    """The lowest limit of this process below the memory of the machine; None where there is none."""
    return min(_limits(), key=lambda group: group.whole, default=None)


def whole() -> int:
    """Bytes of memory that programs here may have in all."""
    group = limit()
    return int(psutil.virtual_memory().total) if group is None else group.whole


def used() -> int:
    """Bytes of `whole` that programs have."""
    group = limit()
    return int(psutil.virtual_memory().used) if group is None else group.used


def available() -> int:
    """Bytes of memory that this process may still take without others being moved to the disk."""
    return min([int(psutil.virtual_memory().available) + _kept_by_zfs(), *(group.free for group in _limits())])


def obtainable() -> int:
    """Bytes that this process can still get at all; where the system makes room by itself, the memory that there is."""
    memory = psutil.virtual_memory()
    if sys.platform != "linux":
        return int(memory.total)
    swap = int(psutil.swap_memory().free)
    groups = [group.free + (swap if group.swap is None else min(swap, group.swap)) for group in _limits()]
    return min([int(memory.available) + swap + _kept_by_zfs(), *groups])


def _kept_by_zfs() -> int:
    """Bytes of files that ZFS keeps and gives back when programs ask for memory; Linux counts them as used."""
    try:
        facts = {words[0]: words[2] for line in ZFS.read_text("utf-8").splitlines() if len(words := line.split()) == 3}
        return max(0, int(facts["size"]) - int(facts["c_min"]))
    except (OSError, LookupError, ValueError):
        return 0  # it has no ZFS, as a rule


def _limits() -> Iterator[Limit]:
    """Those below the memory of the machine: of the group of this process, and of the groups around it."""
    total = int(psutil.virtual_memory().total)
    for read, folder, top in _groups():
        for group in (folder, *folder.parents):
            try:
                limited = read(group)
            except (OSError, LookupError, ValueError):  # the topmost group has no such files
                limited = None
            if limited is not None and limited.whole < total:
                yield limited
            if group == top:
                break


def _groups() -> Iterator[tuple[Callable[[Path], Limit | None], Path, Path]]:
    """How limits are read, the folder of the group of this process, and that of the topmost group; of each version."""
    try:
        lines = [os.fsdecode(line).split(":", 2) for line in (PROC / "self/cgroup").read_bytes().splitlines()]
        mounts = os.fsdecode((PROC / "self/mountinfo").read_bytes()).splitlines()
    except OSError:  # not Linux, or hidden
        return
    paths = {"" if number == "0" else kind: path for number, kinds, path in lines for kind in kinds.split(",")}
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        words, described = before.split(), after.split()
        if described[:1] == ["cgroup2"] and "" in paths:
            yield _second_version, *_folders(words[3], words[4], paths[""])
        elif described[:1] == ["cgroup"] and "memory" in described[-1].split(",") and "memory" in paths:
            yield _first_version, *_folders(words[3], words[4], paths["memory"])


def _folders(root: str, mounted: str, path: str) -> tuple[Path, Path]:
    """The folders of a group and of the topmost one, where the group `root` is seen at `mounted`."""
    top = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), mounted))
    inside = PurePosixPath(path)
    if not inside.is_relative_to(root) or ".." in inside.parts:  # it is outside of what the container sees
        return top, top
    return top / inside.relative_to(root), top


def _second_version(group: Path) -> Limit | None:
    most = _number(group / "memory.max")
    if most is None:
        return None
    facts = _facts(group)
    given_back = sum(facts.get(name, 0) for name in OF_FILES)
    used = max(0, int((group / "memory.current").read_text("utf-8")) - given_back)
    try:
        most_swap = _number(group / "memory.swap.max")
        swap = None if most_swap is None else max(0, most_swap - (_number(group / "memory.swap.current") or 0))
    except OSError:  # the machine has no swap, or does not count it
        swap = None
    return Limit(most, used, swap)


def _first_version(group: Path) -> Limit | None:
    most = int((group / "memory.limit_in_bytes").read_text("utf-8"))
    taken = int((group / "memory.usage_in_bytes").read_text("utf-8"))
    facts = _facts(group)
    used = max(0, taken - sum(facts.get(f"{OLD}{name}", 0) for name in OF_FILES))
    try:
        both = int((group / "memory.memsw.limit_in_bytes").read_text("utf-8"))
        both_taken = int((group / "memory.memsw.usage_in_bytes").read_text("utf-8"))
        swap = max(0, (both - both_taken) - (most - taken))
    except OSError:  # swap is not counted
        swap = None
    return Limit(most, used, swap)


def _facts(group: Path) -> dict[str, int]:
    lines = (group / "memory.stat").read_text("utf-8").splitlines()
    return {name: int(value) for name, _, value in (line.partition(" ") for line in lines)}


def _number(file: Path) -> int | None:
    """What a file of the second version says; None for "max"."""
    text = file.read_text("utf-8").strip()
    return None if text == "max" else int(text)
