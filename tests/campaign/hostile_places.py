"""Run folders and answers of somebody who means harm, for the drill of places.

A folder is taken in, or followed at a place, and then shown: in lists, reports, exports and the window. Beside it
stands a folder whose files must stay as they are. An answer is a lie of the machine to one of our small commands.
"""

import contextlib
import io
import json
import os
import random
import resource
import shutil
import stat
import threading
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from tests.campaign.hostile import BROKEN, DEEP, LOOKING, NUMBERS, TEXTS, fill_victim, no_hang, seen
from tests.campaign.outcome import Outcome, judged
from tests.campaign.place_parts import recorded, recorded_by_a_loop
from tests.campaign.program import Home
from workbench import cli
from workbench.config import RunConfig
from workbench.places import sending
from workbench.places.contract import Answer, Ending, Launcher
from workbench.places.following import Following
from workbench.places.host.hosts import LocalHost
from workbench.places.kinds.processes import Processes
from workbench.places.kinds.ray import Ray
from workbench.places.place import RayPlace, SshPlace
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling

MOST = 500 << 10  # KiB that the peak of memory may rise by
LOOKS = 6
PAGES = 9  # of the window that are turned
WINDOWS = 0.15  # of the folders that are looked at in the window
HUGE = 1_000_000  # files of one folder
Way = Callable[[random.Random, Path, Path], str]


def folders(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """One folder made hostile in one to four ways, taken in and shown."""
    victim, there, space = folder / "victim", folder / "there" / "run", folder / "space"
    victim.mkdir()
    fill_victim(victim)
    own_loop = rng.random() < 0.4  # which no place can train
    shutil.copytree(recorded_by_a_loop() if own_loop else recorded().folder, there)
    did = "; ".join(way(rng, there, victim) for way in rng.choices(WAYS, k=rng.randint(1, 4)))
    before, most = seen(victim, space), _peak()
    arrive = _taken_in if own_loop else rng.choice((_taken_in, _followed))
    actions: list[Callable[[], object]] = [lambda: arrive(folder, there, space)]
    actions += [lambda look=look: look(space, [1]) for look in LOOKING]
    for action in actions:
        said = io.StringIO()
        try:
            with no_hang(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                action()
        except Problem as problem:
            said.write(str(problem))
        except Exception as error:  # noqa: BLE001 - what a person would see as a traceback is what is counted
            frame = traceback.extract_tb(error.__traceback__)[-1]
            words = f"{did}: {type(error).__name__}: {str(error)[:150]} ({Path(frame.filename).name}:{frame.lineno})"
            yield Outcome("traceback", words, "hostile run folders")
            continue
        broken = [f"{did}: outside something changed"] * (seen(victim, space) != before)
        broken += [f"{did}: {(_peak() - most) >> 10} MiB"] * (_peak() - most > MOST)
        broken += [f"{did}: the escape sequences reach the terminal"] * ("\x1b]" in said.getvalue())
        most = _peak()
        yield judged(broken, traceback="Traceback" in said.getvalue(), part="hostile run folders")
    broken = [f"{did}: {path.name} was left" for path in folder.iterdir() if path not in (victim, there.parent, space)]
    yield judged(broken, part="hostile run folders")
    if rng.random() < WINDOWS:
        home = Home(folder / "home")
        ended = home.run("turn", space, PAGES, folder / "turned", module="tests.campaign.window")
        broken = [f"{did}: status {ended.status}"] * bool(ended.status)
        broken += [f"{did}: outside something changed"] * (seen(victim, space) != before)
        yield judged(broken, ended.last_words if broken else "", traceback=ended.traceback, part="shown in the window")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _taken_in(folder: Path, there: Path, space: Path) -> None:
    """`workbench ingest`."""
    cli.main(["ingest", str(there.parent), "--workspace", str(space)])


def _followed(folder: Path, there: Path, space: Path) -> None:
    """As the run of a place that has ended."""
    host = LocalHost()
    place = SshPlace(name="box", host="here", folder=str(there.parent), python="/bin/true")
    with Workspace(space, create=True) as workspace:
        launcher = Processes(host, place)
        (run_id,) = sending.prepare(workspace, recorded().config, place)
        uid = workspace.run(run_id).placement.uid  # type: ignore[union-attr]
        shutil.copytree(there, there.parent / uid, symlinks=True, copy_function=_copied)
        sending.submit(workspace, [run_id], place, launcher)
        following = Following(workspace, place, launcher)
        for _ in range(LOOKS):
            with contextlib.suppress(Problem):
                if not following.look().left:
                    break
        shutil.rmtree(there.parent / uid)
        shutil.rmtree(there.parent / "jobs", ignore_errors=True)


def _copied(source: str, target: str) -> None:
    """A file of any kind, as it is."""
    facts = os.lstat(source)
    if stat.S_ISREG(facts.st_mode):
        shutil.copyfile(source, target)
    else:
        os.mknod(target, facts.st_mode, facts.st_rdev)


# Ways to make a run folder hostile; each says what it did.


def _entries(there: Path) -> list[str]:
    return sorted(path.name for path in there.iterdir())[:40]


def _no_file(rng: random.Random, there: Path, victim: Path) -> str:
    """A link, a pipe, a device or a folder in the place of a file."""
    name = rng.choice(_entries(there))
    how = rng.choice(("link", "link", "pipe", "folder", "device" if os.geteuid() == 0 else "pipe"))
    path = there / name
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if how == "link":
        path.symlink_to(rng.choice((victim / "secret.npy", victim / "notes.txt", victim, Path("/dev/zero"), path)))
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "device":
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    else:
        path.mkdir()
    return f"a {how} as {name}"


def _bytes(rng: random.Random, there: Path, victim: Path) -> str:
    """A file that is cut, or other bytes."""
    name = rng.choice([name for name in _entries(there) if (there / name).is_file()] or ["new"])
    path = there / name
    if path.is_symlink() or not path.is_file() or stat.S_ISCHR(path.stat().st_mode):
        return "nothing"
    content = path.read_bytes()
    path.write_bytes(rng.choice((content[: rng.randint(0, len(content))], rng.randbytes(300), content * 2, b"")))
    return f"bytes of {name}"


def _journal(rng: random.Random, there: Path, victim: Path) -> str:
    """Lines that no run writes."""
    path = there / "journal.jsonl"
    if not path.is_file() or path.is_symlink():
        return "nothing"
    lines = path.read_bytes().splitlines()
    made = rng.choice(LINES)
    lines.insert(rng.randint(0, len(lines)), made if isinstance(made, bytes) else json.dumps(made).encode())
    path.write_bytes(b"\n".join(lines) + rng.choice((b"\n", b"")))
    return f"the line {str(made)[:60]}"


def _facts(rng: random.Random, there: Path, victim: Path) -> str:
    """Another value in a JSON file, or in a line of the journal."""
    path = there / rng.choice(("dataset.json", "run.json", "journal.jsonl"))
    if not path.is_file() or path.is_symlink():
        return "nothing"
    lines = path.read_text("utf-8", "replace").splitlines()
    at = rng.randrange(len(lines)) if lines else 0
    try:
        value = json.loads(lines[at])
        parts = [part for part in _parts(value) if part[0]]
        holder, key = rng.choice(parts)
        holder[key] = rng.choice((*TEXTS, *(number for number in NUMBERS if not isinstance(number, bytes)), [], {}))
        lines[at] = json.dumps(value)
    except (ValueError, IndexError, RecursionError):
        lines = [rng.choice(BROKEN)]
        key = "all"
    path.write_text("\n".join(lines) + "\n", "utf-8", "surrogatepass")
    return f"{key} of {path.name}"


def _parts(value: object) -> Iterator[tuple[dict | list, str | int]]:
    """Every part of a JSON value, by what holds it."""
    members = value.items() if isinstance(value, dict) else enumerate(value[:50]) if isinstance(value, list) else ()
    for key, part in members:
        yield value, key  # type: ignore[misc]
        yield from _parts(part)


def _names(rng: random.Random, there: Path, victim: Path) -> str:
    """Scripts, formulas and paths as the names of run, data set and classes; all else is as it should be."""
    text = rng.choice(TEXTS)
    if not all(stat.S_ISREG(os.lstat(there / name).st_mode) for name in ("dataset.json", "config.toml", "run.json")):
        return "nothing"  # to read a pipe or a device would take for ever
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, Problem):
        facts = json.loads((there / "dataset.json").read_text())
        facts["class_names"] = [text, *facts["class_names"][1:]]
        facts["name"] = text
        (there / "dataset.json").write_text(json.dumps(facts))
        read = RunConfig.recorded((there / "config.toml").read_text("utf-8"))
        config = read.model_copy(update={"name": text[:200]}).to_toml().encode()
        card = json.loads((there / "run.json").read_text())
        (there / "config.toml").write_bytes(config)
        (there / "run.json").write_text(json.dumps(card | {"config": blake2b(config, digest_size=16).hexdigest()}))
    return f"the name {text[:40]!r}"


def _array(rng: random.Random, there: Path, victim: Path) -> str:
    """An array that unpacks to, or announces, more than there is; its hash is right."""
    name = rng.choice(("embeddings-0.npy", "ranking-0.npz", "embeddings-2.npy", "ranking-2.npz"))
    path = there / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return "nothing"
    how = rng.choice(("announces", "objects", "bomb", "other"))
    buffer = io.BytesIO()
    if how == "announces":
        np.lib.format.write_array_header_1_0(
            buffer, {"descr": "<f4", "fortran_order": False, "shape": (rng.choice((2**40, 2**62, 10**9)), 16)}
        )
    else:
        array = (
            np.array([{"a": 1}], dtype=object)
            if how == "objects"
            else np.zeros((3, 5), rng.choice(("f8", "U9", "M8[s]")))
        )
        np.save(buffer, array, allow_pickle=True)
    content = buffer.getvalue()
    if name.endswith(".npz"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED if how == "bomb" else zipfile.ZIP_STORED) as archive:
            for member in ("sample_ids", "labels", "neighbours", "similarities", "ap", "first_hit", "r"):
                archive.writestr(f"{member}.npy", bytes(64 << 20) if how == "bomb" else content)
        content = packed.getvalue()
    path.write_bytes(content)
    with contextlib.suppress(OSError):
        journal = there / "journal.jsonl"
        if journal.is_file() and not journal.is_symlink():
            _tell_hash(journal, name, content)
    return f"{name} {how}"


def _tell_hash(journal: Path, name: str, content: bytes) -> None:
    lines = journal.read_bytes().splitlines()
    for at, line in enumerate(lines):
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError, AttributeError):
            entry = json.loads(line)
            if name in entry["evaluation"]["files"]:
                entry["evaluation"]["files"][name] = [len(content), blake2b(content, digest_size=16).hexdigest()]
                lines[at] = json.dumps(entry).encode()
    journal.write_bytes(b"\n".join(lines) + b"\n")


def _doubles(rng: random.Random, there: Path, victim: Path) -> str:
    """Files whose names differ from ours by their case alone."""
    for name in ("RUN.JSON", "Journal.jsonl", "CONFIG.TOML", "Embeddings-0.npy", "DATASET.json", "Last.pt"):
        (there / name).write_bytes(rng.randbytes(100))
    return "names that differ by case"


def _many(rng: random.Random, there: Path, victim: Path) -> str:
    """Very many files beside ours, and folders beside the run."""
    count = HUGE if rng.random() < 0.05 else 5000
    for number in range(count):
        os.close(os.open(there / f"embeddings-{number + 10}.npy.{number}", os.O_CREAT | os.O_WRONLY))
    for number in range(count // 50):
        (there.parent / f"{number}").mkdir(exist_ok=True)
    return f"{count:,} files"


WAYS: tuple[Way, ...] = (
    _no_file, _no_file, _no_file, _bytes, _journal, _journal, _journal, _facts, _facts, _facts, _facts, _names, _array,
    _array, _doubles, _many,
)  # fmt: skip
_EVIL = {"epoch": 1, "step": 1, "distance": "l2", "metrics": {"MAP@R": 0.5}}
LINES: tuple[object, ...] = (
    b"\xff\xfe not JSON", DEEP.encode(), b" " * (20 << 20), b"[1, 2", b'{"scalars": [["x", 1, 1e999]]}', [], 7, None,
    {"evaluation": _EVIL | {"files": {"../../../victim/new.npy": [5, "00"], "embeddings-1.npy": [2**62, "00"]}}},
    {"evaluation": _EVIL | {"files": {"embeddings-1.npy": [-1, "00"], "ranking-1.npz": [4, "00"]}}},
    {"evaluation": _EVIL | {"epoch": 2**70}}, {"evaluation": _EVIL | {"epoch": -4}},
    {"checkpoint": {"kind": "last", "step": 1, "bytes": 2**61, "blake2b": "/etc/passwd"}},
    {"checkpoint": {"kind": "../../victim/notes.txt", "step": 1}},
    {"run": {"status": "done", "problem": "<script>alert(1)</script>\x1b]0;title\x07"}},
    {"run": {"status": "root", "seconds": -1}}, {"owner": {"pid": 1, "host": "x" * 200, "born": 0}},
    {"owner": {"pid": os.getpid(), "host": "here", "born": 1e300}}, {"forget": -(2**62)}, {"forget": "all"},
    {"keep": [2**62]}, {"keep": []}, {"keep": [-1, 2**40]}, {"keep": ["../../victim"]}, {"keep": list(range(200))},
    {"environment": {"own_loop": {"program": "-cimport os\x1b]0;title\x07", "at": 7}}},
    {"environment": {"own_loop": {"program": ["../../victim"] * 99}}},
    {"note": "=cmd|'/c calc'!A1\n\x1b[2J"}, {"charts": DEEP[:5000], "step": 1}, {"environment": {"data": "\ud800"}},
    {"scalars": [["\x1b]0;title\x07<img src=x>", 1, 1.0], ["batch/loss", 2**62, 1.0], ["a\0b", -5, None]]},
    {"started": "the day after", "run": {"ended": "never", "heartbeat": "\0"}},
)  # fmt: skip


# Answers


class Liar(LocalHost):
    """This machine, whose answers are changed on their way."""

    def __init__(self, rng: random.Random, home: Path) -> None:
        super().__init__(home)
        self._rng = rng

    def call(self, words: Sequence[str], given: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20) -> Answer:
        """As `Host.call`, often with a lie."""
        true = super().call(words, given, seconds=seconds, most=most)
        if self._rng.random() < 0.4:
            return true
        out = true.out
        lie = self._rng.randrange(8)
        if lie == 0:
            out = out[: self._rng.randint(0, len(out))]
        elif lie == 1:
            out += self._rng.randbytes(50)
        elif lie == 2:
            out = self._rng.randbytes(200)
        elif lie == 3:
            out = "\n".join(
                self._rng.choices((*TEXTS, "exit 999", "running", "exit 0", "exit -1", "none"), k=9)
            ).encode()
        elif lie == 4:
            out = b"%023d\n" % self._rng.choice((0, 1, 10**22, len(out))) + out
        elif lie == 5:
            out = self._probe().encode("utf-8", "surrogatepass")
        elif lie == 6:
            out = b"\x1b]0;title\x07" * 50_000
        else:
            return Answer(self._rng.choice((0, 1, 3, 137, 254)), out, "\x1b]0;" + self._rng.choice(TEXTS))
        return Answer(true.status, out[:most], true.errors)

    def _probe(self) -> str:
        """What the check's small program might print."""
        value = lambda: self._rng.choice(VALUES)  # noqa: E731
        names = ("python", "workbench", "clock", "free", "torch", "gpus", "mps", "data", "no torch", "no workbench")
        facts = ", ".join(f'"{name}": {value()}' for name in self._rng.sample(names, 7))
        return f"facts {{{facts}}}\n"


VALUES = (
    "1" + "0" * 400, "1" + "0" * 4000, "9" * 5000, "NaN", "Infinity", "-1", "null", "true", '"3.11"', '"\\u001b]0;t"',
    "[]", "{}", DEEP, '[["H200", 1e999]]', '[["H200", 1' + "0" * 400 + "]]", '[["a", NaN], 7, []]', f'"{"x" * 70_000}"',
    "[true, 1, null]", '"\\ud800"', "1e308",
)  # fmt: skip


def answers(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Everything that is asked of a machine, with lies for answers."""
    victim, place_folder = folder / "victim", folder / "place"
    victim.mkdir()
    place_folder.mkdir()
    fill_victim(victim)
    before, most = seen(victim, folder / "space"), _peak()
    with Workspace(folder / "space", create=True) as space, _ray(rng) as url:
        host = Liar(rng, folder)
        ssh = SshPlace(name="box", host="here", folder=str(place_folder), python="/bin/true", data={"/a": "/b"})
        ray = RayPlace(name="ray", url=url, folder=str(place_folder), python="/bin/true")
        kinds: list[tuple[SshPlace | RayPlace, Launcher]] = [(ssh, Processes(host, ssh)), (ray, Ray(host, ray))]
        for place, launcher in kinds:
            (run_id,) = sending.prepare(space, recorded().config, place)
            uid = space.run(run_id).placement.uid  # type: ignore[union-attr]
            (place_folder / uid).mkdir(exist_ok=True)
            for path in recorded().folder.iterdir():
                if path.name not in (travelling.CARD, "config.toml", travelling.LOCK):
                    shutil.copyfile(path, place_folder / uid / path.name)
            following = Following(space, place, launcher)
            asked: list[Callable[[], object]] = [launcher.check] * 6
            asked += [lambda: sending.submit(space, [run_id], place, launcher)] * 3  # noqa: B023
            asked += [following.look] * 8 + [lambda: launcher.stop(uid, Ending.SAVED)] * 2  # noqa: B023
            for ask in asked:
                yield _asked(ask, f"hostile answers, {place.kind}")
            space.sweep_dead_runs()
    broken = ["outside something changed"] * (seen(victim, folder / "space") != before)
    broken += [f"{(_peak() - most) >> 10} MiB"] * (_peak() - most > MOST)
    yield judged(broken, part="hostile answers, nothing outside")


def _asked(ask: Callable[[], object], part: str) -> Outcome:
    said = ""
    try:
        with no_hang():
            said = str(ask())
    except Problem as problem:
        said = str(problem)
        if not said.endswith((".", "?")) or "\n" in said:
            return Outcome("lost", f"no sentence: {said[:200]!r}", part)
    except Exception as error:  # noqa: BLE001 - what a person would see as a traceback is what is counted
        frame = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {str(error)[:150]} ({Path(frame.filename).name}:{frame.lineno})"
        return Outcome("traceback", words, part)
    return judged(["an escape sequence is told"] * ("\x1b" in said), part=part)


@contextlib.contextmanager
def _ray(rng: random.Random) -> Iterator[str]:
    """The address of somebody who answers as Ray does, or otherwise."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            job = {"submission_id": rng.choice(VALUES[:3]), "status": rng.choice(TEXTS), "message": rng.choice(TEXTS)}
            body = rng.choice((json.dumps([job]), rng.choice(VALUES), "[" + rng.choice(VALUES) + "]", "{}")).encode()
            self.send_response(rng.choice((200, 200, 200, 404, 500, 302)))
            self.send_header("Content-Length", str(len(body) + rng.choice((0, 0, 0, 7, -1))))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
