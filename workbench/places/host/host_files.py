"""Files below one folder of a host, by small commands that every POSIX shell has: read in parts, written completely.

Every path is checked here and passed as an argument: no shell interprets it.
"""

import io
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import time

from workbench.places.contract import ROOM, Host, Part, Unreachable
from workbench.problem import Problem

SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
SLOWEST = 50_000  # bytes a second below which a connection counts as lost
FRAME = 24  # bytes before each part that is read
# Of each path, offset and most of the input: the number of bytes that follow, as "%023d\\n", or "none"; then the bytes.
# The sizes are asked for all files at once, and a file from its beginning is one process: a thousand runs have many.
READ = """\
cd -- "$1" || exit 3
room=$2
set -f
set -- $(cat)
files= at=0
for word; do
  [ $at = 0 ] && [ -f "$word" ] && [ ! -L "$word" ] && files="$files $word"
  at=$(((at + 1) % 3))
done
wc -c $files </dev/null 2>/dev/null | {
  read -r size name
  while [ $# -gt 0 ]; do
    if [ "$name" = "$1" ]; then
      from=$2
      [ $from -lt 0 ] && from=$((size + from))
      [ $from -lt 0 ] && from=0
      n=$((size - from))
      [ $n -lt 0 ] && n=0
      [ $n -gt $3 ] && n=$3
      [ $given ] && [ $((given + n)) -gt $room ] && exit
      given=$((given + n))
      printf '%023d\\n' $n
      if [ $n -gt 0 ]; then
        if [ $from = 0 ]; then head -c $n "$1"; else tail -c +$((from + 1)) "$1" | head -c $n; fi
      fi
      read -r size name
    else
      printf '%23s\\n' none
    fi
    shift 3
  done
}
exit 0
"""
WRITE = 'mkdir -p -- "$1" && tar -xf - -C "$1"'


def read(host: Host, folder: str, parts: Sequence[Part]) -> Iterable[bytes | None]:
    """As `Launcher.read`, of files below `folder`, in one command.

    Raises:
        Unreachable: the host did not answer, or its answer is invalid.
        Problem: a path is invalid.
    """
    if not parts:
        return []
    asked = "".join(f"{checked(part.path)} {part.offset} {part.most}\n" for part in parts)
    most = max(part.most for part in parts) + ROOM + FRAME * len(parts)
    try:
        answer = host.call(
            ["sh", "-c", READ, "sh", folder, str(ROOM)], asked.encode(), seconds=60 + most / SLOWEST, most=most
        )
    except Unreachable as problem:
        return _then_lost(_unpacked(problem.came, parts, cut=True), problem)
    if answer.status == 3:
        return [None] * len(parts)
    contents = list(_unpacked(answer.out, parts))
    if not contents:
        raise Unreachable(f"The answer was cut: {last_line(answer.errors)}.")
    return contents


def write_all(host: Host, folder: str, contents: Mapping[str, bytes]) -> None:
    """Write small files below `folder` by their paths; folders are made where they are missing.

    Raises:
        Unreachable: the host did not answer; some of the files may be there.
        Problem: a path is none of ours, or the host cannot write them.
    """
    answer = host.call(["sh", "-c", WRITE, "sh", folder], _packed(contents), seconds=120)
    if answer.status:
        raise Problem(
            f"{folder} cannot be written there: {last_line(answer.errors)}.",
            kept="Nothing was started.",
            todo="Free some space there, or name another folder in the fields of the place.",
        )


def checked(path: str) -> str:
    """The path, if it stays below its folder. Raises Problem for any other."""
    if not SAFE.fullmatch(path) or len(path) > 500:
        raise Problem(f"{path!r} is not a file of a run folder.", kept="It was not used.")
    return path


def last_line(text: str) -> str:
    """The last line that a program printed, without unprintable characters and without its full stop."""
    line = next((line for line in reversed(text.splitlines()) if line.strip()), "no reason was given")
    return "".join(letter if letter.isprintable() else " " for letter in line).strip()[:300].rstrip(".")


def _unpacked(out: bytes, parts: Sequence[Part], *, cut: bool = False) -> Iterator[bytes | None]:
    """The parts of an answer, as far as it goes; of one that was `cut` also the beginning of the last.

    A file that shrank while it was read leaves the frames wrong: nothing is used. Raises Unreachable then.
    """
    at = 0
    for part in parts:
        frame = out[at : at + FRAME]
        if len(frame) < FRAME and (cut or not frame):
            break
        at += FRAME
        if frame.strip() == b"none" and len(frame) == FRAME:
            yield None
            continue
        if not re.fullmatch(rb"[0-9]{23}\n", frame) or int(frame) > part.most:
            raise Unreachable("The answer does not have the form of these requests.")
        content = out[at : at + int(frame)]
        at += int(frame)
        if at > len(out):
            if not cut:
                raise Unreachable("The answer was cut.")
            if not content:
                return
        yield content
    if at < len(out) and not cut:
        raise Unreachable("The answer holds more than was asked for.")


def _then_lost(contents: Iterator[bytes | None], problem: Unreachable) -> Iterator[bytes | None]:
    yield from contents
    raise problem


def _packed(contents: Mapping[str, bytes]) -> bytes:
    """The files as an archive, whose paths are checked."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in contents.items():
            facts = tarfile.TarInfo(checked(path))
            facts.size, facts.mode, facts.mtime = len(content), 0o600, int(time())
            archive.addfile(facts, io.BytesIO(content))
    return packed.getvalue()
