"""Files below one folder of a host, by small commands that every POSIX shell has: read in parts, write whole.

Every path is checked here and given as an argument: no shell reads it.
"""

import io
import re
import tarfile
from collections.abc import Mapping, Sequence
from time import time

from workbench.places.contract import Answer, Host, Part, Unreachable
from workbench.problem import Problem

SAFE = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$")
SLOWEST = 50_000  # bytes a second below which a connection counts as lost
FRAME = 24  # bytes before each part that is read
# For each path, offset and most: the number of bytes that follow, as "%022d\\n", or "none"; then the bytes.
READ = (
    'cd -- "$1" || exit 3; shift; '
    "while [ $# -gt 0 ]; do "
    'if [ -f "$1" ] && [ ! -L "$1" ]; then '
    's=$(wc -c <"$1") || s=0; n=$((s - $2)); [ $n -lt 0 ] && n=0; [ $n -gt $3 ] && n=$3; '
    'printf "%023d\\n" $n; [ $n -gt 0 ] && tail -c +$(($2 + 1)) -- "$1" | head -c $n; '
    'else printf "%23s\\n" none; fi; '
    "shift 3; done; exit 0"
)
WRITE = 'mkdir -p -- "$1" && tar -xf - -C "$1"'


def read(host: Host, folder: str, parts: Sequence[Part]) -> list[bytes | None]:
    """As `Launcher.read`, of files below `folder`, in one command.

    Raises:
        Unreachable: the host did not answer, or its answer ends too early: what came is not used.
        Problem: a path is none of ours.
    """
    if not parts:
        return []
    words = ["sh", "-c", READ, "sh", folder]
    for part in parts:
        words += [checked(part.path), str(part.offset), str(part.most)]
    most = sum(part.most + FRAME for part in parts)
    answer = host.call(words, seconds=60 + most / SLOWEST, most=most)
    if answer.status == 3:
        return [None] * len(parts)
    return _unpacked(answer, parts)


def write_all(host: Host, folder: str, contents: Mapping[str, bytes]) -> None:
    """Write small files below `folder` by their paths; folders are made where they are missing.

    Raises:
        Unreachable: the host did not answer; some of the files may be there.
        Problem: a path is none of ours, or the host cannot write them.
    """
    answer = host.call(["sh", "-c", WRITE, "sh", folder], _packed(contents), seconds=120)
    if answer.status:
        raise Problem(f"{folder} cannot be written there: {last_line(answer.errors)}.", kept="Nothing was started.")


def checked(path: str) -> str:
    """The path, if it stays below its folder. Raises Problem for any that none of our files has."""
    if not SAFE.match(path) or len(path) > 500:
        raise Problem(f"{path!r} is not a file of a run folder.", kept="It was not used.")
    return path


def last_line(text: str, longest: int = 300) -> str:
    """The last line that a program printed, without what cannot be shown and without its full stop."""
    line = next((line for line in reversed(text.splitlines()) if line.strip()), "no reason was given")
    return "".join(letter if letter.isprintable() else " " for letter in line).strip()[:longest].rstrip(".")


def _unpacked(answer: Answer, parts: Sequence[Part]) -> list[bytes | None]:
    """The parts of an answer. A file that shrank while it was read leaves the frames wrong: all is asked again."""
    contents: list[bytes | None] = []
    at = 0
    for part in parts:
        frame = answer.out[at : at + FRAME]
        at += FRAME
        if frame.strip() == b"none" and len(frame) == FRAME:
            contents.append(None)
            continue
        if not re.fullmatch(rb"[0-9]{23}\n", frame) or not int(frame) <= part.most or at + int(frame) > len(answer.out):
            raise Unreachable(f"The answer was cut: {last_line(answer.errors)}.")
        contents.append(answer.out[at : at + int(frame)])
        at += int(frame)
    if at != len(answer.out):
        raise Unreachable("The answer holds more than was asked for.")
    return contents


def _packed(contents: Mapping[str, bytes]) -> bytes:
    """The files as an archive, whose paths are checked."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in contents.items():
            facts = tarfile.TarInfo(checked(path))
            facts.size, facts.mode, facts.mtime = len(content), 0o600, int(time())
            archive.addfile(facts, io.BytesIO(content))
    return packed.getvalue()
