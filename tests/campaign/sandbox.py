"""What the program opens: no socket but to the screen, and no file written outside its own folders.

strace sees every call of every process, also of Qt and SQLite; where it is not, witness.py sees those of Python.
"""

import os
import random
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.campaign import short_run
from tests.campaign.outcome import Outcome, judged
from tests.campaign.program import ROOT, Home, start_fresh

TITLE = "sockets and files"
PROMISE = "Nothing is sent anywhere; only the workspace, caches, settings, state and temporary files are written."
ROUNDS = 10
SLICE = 1
CALLS = (
    "network,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,symlink,symlinkat,link,"
    "linkat,truncate,chmod,fchmodat"
)
CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
SENT = re.compile(r"AF_(?!UNIX|UNSPEC)\w+")
DEVICES = ("/dev/", "/proc/")  # no files; /dev/shm holds memory that processes share


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    home, space = short_run.copy_of_whole(folder)
    config, out = short_run.write_config(folder, epochs=1), folder / "out"
    asked: dict[str, Sequence[object]] = {
        "list": ("workbench", "list", "runs", "-w", space),
        "run": ("workbench", "run", config, "-w", space, "--quiet"),
        "report": ("workbench", "report", 1, "-w", space, "--format", "html", "--format", "pdf", "--out", out),
        "export": ("workbench", "export", 1, "-w", space, "--format", "npy", "--format", "torch", "--out", out),
        "window": ("tests.campaign.window", "turn", space, 12, folder / "turned.jsonl"),
    }
    name = rng.choice(list(asked))
    yield watched(name, list(asked[name]), home, folder, (space, home.cache, home.state, home.temporary, out))


def watched(name: str, words: list[object], home: Home, folder: Path, own: tuple[Path, ...]) -> Outcome:
    """One program from its start to its end, with all that it starts."""
    seen = folder / "seen"
    seen.mkdir()
    command = [sys.executable, "-m", *map(str, words)]
    if shutil.which("strace"):
        command = ["strace", "-ff", "-qq", "-y", "-s", "4096", "-e", f"trace={CALLS}", "-o", str(seen / "of"), *command]
    else:
        command[2:2] = ["tests.campaign.witness", str(seen / "of")]
    env = {**home.env, "PYTHONDONTWRITEBYTECODE": "1"}  # else Python keeps what it compiles beside the program
    ended = start_fresh(command, env, home.temporary / "watched.txt").end()
    broken = [f"status {ended.status}: {ended.last_words}"] * bool(ended.status)
    lines = [line for path in sorted(seen.iterdir()) for line in path.read_text("utf-8", "replace").splitlines()]
    broken += ["nothing was seen"] * (not lines)
    allowed = (*own, folder / "turned.jsonl", seen)
    broken += sorted({found for line in lines if (found := breach(line, allowed))})
    return judged(broken, traceback=ended.traceback, part=name)


def breach(line: str, allowed: tuple[Path, ...]) -> str:
    """What one call did that is not allowed; empty for all else."""
    found = CALL.match(line)
    if found is None or "= -1 E" in line:
        return ""
    call, rest = found.groups()
    if call in ("socket", "connect", "sendto", "sendmsg", "bind", "socketpair"):
        return f"{call}({rest[:80]}" if SENT.search(rest) else ""
    if call in ("open", "openat") and not WRITING.search(rest):
        return ""
    for below, path in PATH.findall(rest):
        place = os.path.realpath(os.path.join(below or ROOT, path))
        if not place.startswith(DEVICES) and not any(Path(place).is_relative_to(each.resolve()) for each in allowed):
            return f"{call} {place}"
    return ""
