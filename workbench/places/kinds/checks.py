"""Checks what a machine has for a run: Python, Workbench, GPU, room on the disk, data, the clock."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from workbench import __version__
from workbench.jobs import command_line
from workbench.places.contract import Finding, Host, Unreachable
from workbench.places.host.host_files import last_line
from workbench.places.kinds.has import STATE
from workbench.places.place import Place, RayPlace, SlurmPlace
from workbench.problem import Problem
from workbench.progress import short_time

PROBE_LIMIT = 180.0  # seconds: the first import of torch from a slow disk
WHEEL = "In a checkout, `python -m pip wheel --no-deps --wheel-dir wheels .` makes FILE."
LEAST_ROOM = 2e9  # bytes
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)
CLOCK_OFF = 300.0  # seconds
LARGEST_NUMBER = 1e18  # largest credible number of bytes or seconds
PROBE = """
import errno, json, os, platform, shutil, sys, tempfile, time
folder, *data = sys.argv[1:]
def state(path):
    try:
        os.stat(path)
    except OSError as error:  # below a folder that may not be searched it cannot be seen
        return "unreadable" if isinstance(error, PermissionError) else "missing"
    return "there" if os.access(path, os.R_OK | (os.X_OK if os.path.isdir(path) else 0)) else "unreadable"
def writable(folder):  # by writing: os.access says yes of a folder of /proc, and to root of nearly all
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return True
facts = {"python": platform.python_version(), "clock": time.time(), "data": [state(path) for path in data]}
while folder and not os.path.isdir(folder):
    folder = os.path.dirname(folder)
facts["free"] = shutil.disk_usage(folder or ".").free
facts["writable"] = writable(folder or ".")
try:
    import workbench
    facts["workbench"] = workbench.__version__
except Exception as error:
    facts["no workbench"] = str(error)
try:
    import torch
    facts["torch"] = torch.__version__
    gpus = [torch.cuda.get_device_properties(at) for at in range(torch.cuda.device_count())]
    facts["gpus"] = [[gpu.name, gpu.total_memory] for gpu in gpus]
    facts["mps"] = torch.backends.mps.is_available()
except Exception as error:
    facts["no torch"] = str(error)
print("facts " + json.dumps(facts))
"""
# What can be found without Python: the folder of the runs, then the data; a fact a line.
SHELL_PROBE = (
    f"{STATE}"
    "f=$1; shift; case $f in /*) top=/;; *) top=.;; esac; "
    'while [ -n "$f" ] && [ ! -d "$f" ]; do case $f in */*) f=${f%/*};; *) f=;; esac; done; f=${f:-$top}; '
    'df -Pk "$f" 2>/dev/null | tail -n 1 | { read -r _ _ _ free _ && echo "free $free"; }; '
    'p=$f/.workbench-$$; if (set -C; : > "$p") 2>/dev/null; then rm -f "$p"; echo "writable yes"; '
    'else echo "writable no"; fi; echo "clock $(date +%s)"; '
    "if command -v nvidia-smi >/dev/null 2>&1; then "
    "nvidia-smi --query-gpu=name,memory.total --format=csv,noheader,nounits 2>/dev/null | sed 's/^/gpu /'; fi; "
    'for d in "$@"; do echo "data $(state "$d")"; done'
)


def look(host: Host, place: Place) -> list[Finding]:
    """Findings on what a machine has and what is missing; an unreachable machine is one bad finding."""
    began = monotonic()
    try:
        host.call(["true"], seconds=20)
        finding = Finding("Connection", f"It answers in {short_time(monotonic() - began)}.")
        try:
            return [finding, *_of_facts(_facts(host, place), place)]
        except _MissingPython as problem:
            python = Finding("Python", str(problem), good=False)
            return [finding, python, *_without_python(_facts_by_shell(host, place), place)]
    except Unreachable as problem:
        return [Finding("Connection", str(problem), good=False)]


class _MissingPython(Problem):
    """There is no such Python, or it does not answer as one."""


def _facts(host: Host, place: Place) -> dict[str, Any]:
    answer = host.call(
        [place.python, "-c", PROBE, place.folder, *sorted(place.data.values())], seconds=PROBE_LIMIT
    )  # fmt: skip
    lines = [line for line in answer.out.decode("utf-8", "replace").splitlines() if line.startswith("facts ")]
    try:
        facts = json.loads(lines[-1].removeprefix("facts "))
        if isinstance(facts, dict):
            return facts
    except (IndexError, ValueError, RecursionError):
        pass
    raise _MissingPython(
        f"There is no Python at {place.python} ({last_line(answer.errors)}).",
        todo=f"`{_install(place)}` makes one, or name another.",
    )


def _facts_by_shell(host: Host, place: Place) -> dict[str, Any]:
    """What is known of a machine on which there is no Python: as `_facts`, without what only Python can find."""
    answer = host.call(["sh", "-c", SHELL_PROBE, "sh", place.folder, *sorted(place.data.values())])
    facts: dict[str, Any] = {"data": []}
    for line in answer.out.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(" ")
        if name == "data":
            facts["data"].append(value)
        elif name == "writable":
            facts[name] = value == "yes"
        elif name == "gpu":
            title, _, mebibytes = value.rpartition(", ")
            facts.setdefault("gpus", []).append([title, float(mebibytes) * 2**20 if _is_count(mebibytes) else 0.0])
        elif name in ("clock", "free") and _is_count(value):
            facts[name] = int(value) * (1024 if name == "free" else 1)
    return facts


def _of_facts(facts: dict[str, Any], place: Place) -> Iterable[Finding]:
    """Findings from the output of the probe, which may be any JSON."""
    yield _python(facts, place)
    yield _workbench(facts, place)
    yield _gpu(facts, place)
    yield _disk(facts, place)
    yield from _clock_and_data(facts, place)


def _without_python(facts: dict[str, Any], place: Place) -> Iterable[Finding]:
    """Findings from the output of the probe that needs no Python; a GPU that only PyTorch can find is left out."""
    if "gpus" in facts or isinstance(place, SlurmPlace | RayPlace):
        yield _gpu(facts, place)
    if "free" in facts or facts.get("writable") is False:
        yield _disk(facts, place)
    yield from _clock_and_data(facts, place)


def _clock_and_data(facts: dict[str, Any], place: Place) -> Iterable[Finding]:
    off = abs(_number(facts.get("clock")) - datetime.now(UTC).timestamp())
    if off > CLOCK_OFF:
        yield Finding(
            "Clock", f"Its clock is {off / 60:,.0f} min off this one's; runs are followed all the same.", doubtful=True
        )
    states = facts.get("data")
    for path, state in zip(sorted(place.data.values()), states if isinstance(states, list) else [], strict=False):
        yield _data(path, state, place)


def _python(facts: dict[str, Any], place: Place) -> Finding:
    version = _word(facts.get("python"))
    said = f"Python {version} is at {place.python}"
    numbers = re.match(r"(\d{1,3})\.(\d{1,3})", version)
    if numbers is None or OLDEST_PYTHON <= (int(numbers[1]), int(numbers[2])) <= NEWEST_PYTHON:
        return Finding("Python", f"{said}.")
    oldest, newest = (".".join(map(str, python)) for python in (OLDEST_PYTHON, NEWEST_PYTHON))
    another = f"`{_install(place)} --python OTHER` makes one from another Python there."
    return Finding("Python", f"{said}, and Workbench needs {oldest} to {newest}. {another}", good=False)


def _workbench(facts: dict[str, Any], place: Place) -> Finding:
    there = _word(facts.get("workbench"))
    todo = f"`{_install(place)}`"
    if "workbench" not in facts:
        why = _word(facts.get("no workbench"))
        return Finding("Workbench", f"Workbench is not there ({why}). {todo} puts it there. {WHEEL}", good=False)
    if there != __version__:
        said = f"Workbench {there} is there and {__version__} is here. {todo} puts this one there."
        return Finding("Workbench", said, doubtful=True)
    return Finding("Workbench", f"Workbench {there} is there, as here.")


def _gpu(facts: dict[str, Any], place: Place) -> Finding:
    """The finding on GPUs: of the machine, or as requested of a cluster, whose login node often has none."""
    if "no torch" in facts:
        return Finding("GPU", f"PyTorch cannot be loaded there ({_word(facts['no torch'])}).", good=False)
    match place:
        case SlurmPlace():
            if place.gres or "--g" in place.lines:
                return Finding("GPU", f"Runs ask Slurm for {place.gres or place.lines}.")
            return Finding("GPU", "No GPU is asked of Slurm (GRES is empty): runs train on the CPU.", doubtful=True)
        case RayPlace():
            if place.gpus:
                return Finding("GPU", f"Each run asks Ray for {place.gpus:g} GPU.")
            return Finding("GPU", "No GPU is asked of Ray (GPUs is 0): runs train on the CPU.", doubtful=True)
    gpus = facts.get("gpus")
    names = [_gpu_name(gpu) for gpu in gpus if _is_gpu(gpu)] if isinstance(gpus, list) else []
    asked = str(getattr(place, "devices", ""))
    missing = [number for number in re.findall(r"\d+", asked) if int(number) >= len(names)]
    there = "; ".join(names)
    if missing:
        has = f"{len(names)} GPU{'' if len(names) == 1 else 's'}" if names else "no GPU"
        return Finding("GPU", f"It has {has}, and Devices names {asked}.", good=False)
    if names:
        return Finding("GPU", f"{len(names)} GPU{'' if len(names) == 1 else 's'}: {there}.")
    if facts.get("mps") is True:
        return Finding("GPU", "Its GPU is Apple's.")
    return Finding("GPU", "There is no GPU: runs train on its CPU.", doubtful=True)


def _disk(facts: dict[str, Any], place: Place) -> Finding:
    room = _number(facts.get("free"))
    if facts.get("writable") is False:
        said = f"The folder {place.folder} is read-only there, for you or for all. Name another."
        return Finding("Disk", said, good=False)
    if room < LEAST_ROOM:
        said = f"Only {room / 1e9:.1f} GB are free there; a run needs {LEAST_ROOM / 1e9:.0f} GB."
        return Finding("Disk", said, good=False)
    return Finding("Disk", f"{room / 1e9:,.0f} GB are free there.")


def _data(path: str, state: object, place: Place) -> Finding:
    if state == "there":
        return Finding("Data", f"{path} is there.")
    if state == "unreadable":
        return Finding("Data", f"The data in {path} cannot be read by you there.", good=False)
    todo = f"`{command_line('workbench', 'place', 'data', place.name, 'HERE', 'THERE')}` names another folder."
    return Finding("Data", f"The data in {path} are not there. {todo}", good=False)


def _install(place: Place) -> str:
    """What works without an index that has the package, too."""
    return f"workbench place install {command_line(place.name)} --wheel FILE"


def _is_count(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}", text) is not None


def _is_gpu(gpu: object) -> bool:
    return isinstance(gpu, list) and len(gpu) == 2 and isinstance(gpu[1], int | float)


def _gpu_name(gpu: list[Any]) -> str:
    return f"{_word(gpu[0])}, {_number(gpu[1]) / 1e9:.0f} GB"


def _number(value: object) -> float:
    """A number from another machine; 0 if it is no number or too large."""
    if not isinstance(value, int | float) or not abs(value) < LARGEST_NUMBER:
        return 0.0
    return float(value)


def _word(value: object) -> str:
    """A value from another machine for a sentence: one line, truncated."""
    return "".join(letter if letter.isprintable() else " " for letter in str(value))[:100].strip()
