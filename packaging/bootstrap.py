"""Two commands from a fresh clone: `python3 packaging/bootstrap.py run` and `python3 packaging/bootstrap.py test`.

Standard library only. The file must parse on Python 3.6, so that an old Python prints an
error message and not a traceback: annotations above its check are in quotes, those below are never evaluated there.
"""

import ctypes
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    Part = tuple[str, str]  # a library as the loader names it, and its package

OLDEST, NEWEST = (3, 11), (3, 14)  # as requires-python in pyproject.toml: PySide6 has no wheels for newer ones yet


def sentence_for_other_python(
    version: "Sequence[int]", windows: bool = os.name == "nt", which: "Callable[[str], str | None]" = shutil.which
) -> str:
    """Why this Python cannot be used, and the newest on the machine that can."""
    usable = [f"3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    there = [number for number in usable if which("python" + number)]
    if windows:
        advice, start = "`py --list` names those of this machine.", "py -" + usable[0]
    elif there:
        advice, start = f"Python {there[0]} is on this machine.", "python" + there[0]
    else:
        advice, start = "Install one of these.", "python" + usable[0]
    return "Workbench needs Python {}.{} to {}.{}; this is Python {}.{}. {} Call `{} {} run`.".format(
        *OLDEST, *NEWEST, *version[:2], advice, start, os.path.join("packaging", "bootstrap.py")
    )


if not OLDEST <= sys.version_info[:2] <= NEWEST:
    sys.exit(sentence_for_other_python(sys.version_info[:2]))

import tomllib  # noqa: E402 - only there since Python 3.11

ROOT = Path(__file__).resolve().parents[1]
USAGE = """Usage: python3 packaging/bootstrap.py run [-- ARGS]     the window, or the CLI with ARGS
       python3 packaging/bootstrap.py test [-- ARGS]    the tests; ARGS go to pytest"""

FORMATS = ["parquet", "onnx"]  # extras of pyproject.toml, so that every format that is offered can be written
PIP_CACHE = 4 * 10**9  # bytes; measured: 2.9 GB are fetched
MOST_PROCESSES, OF_PROCESS = 4, 5 << 30  # of the tests; bytes of memory that each may need

# Name that the loader knows, Debian and Ubuntu package. Read off the Qt libraries and numba's thread pool with ldd.
LIBRARIES = (
    ("libEGL.so.1", "libegl1"),
    ("libGL.so.1", "libgl1"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
    ("libxcb.so.1", "libxcb1"),
    ("libxcb-cursor.so.0", "libxcb-cursor0"),
    ("libxcb-glx.so.0", "libxcb-glx0"),
    ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ("libxcb-image.so.0", "libxcb-image0"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    ("libxcb-randr.so.0", "libxcb-randr0"),
    ("libxcb-render.so.0", "libxcb-render0"),
    ("libxcb-render-util.so.0", "libxcb-render-util0"),
    ("libxcb-shape.so.0", "libxcb-shape0"),
    ("libxcb-shm.so.0", "libxcb-shm0"),
    ("libxcb-sync.so.1", "libxcb-sync1"),
    ("libxcb-xfixes.so.0", "libxcb-xfixes0"),
    ("libxcb-xinerama.so.0", "libxcb-xinerama0"),
    ("libxcb-xkb.so.1", "libxcb-xkb1"),
    ("libfontconfig.so.1", "libfontconfig1"),
    ("libfreetype.so.6", "libfreetype6"),
    ("libdbus-1.so.3", "libdbus-1-3"),
    ("libgthread-2.0.so.0", "libglib2.0-0"),
    ("libgomp.so.1", "libgomp1"),
)

NO_NETWORK = (
    "name resolution|NameResolutionError|getaddrinfo failed|nodename nor servname|Name or service not known"
    "|NewConnectionError|Failed to establish a new connection|ConnectTimeoutError|ReadTimeoutError|Read timed out"
    "|ProxyError|Network is unreachable|No route to host|Connection refused|ConnectionResetError|Connection aborted"
    "|IncompleteRead|ProtocolError"
)
NO_TRUST = "SSLError|SSLCertVerificationError|CERTIFICATE_VERIFY_FAILED"
LONG_PATHS = "Windows Long Path support"  # of pip's hint
DISK_FULL = r"No space left on device|Errno 28\b|WinError 112\b|Disk quota exceeded|Errno 122\b"


class Trouble(Exception):  # noqa: N818 - a fault of the machine, not a defect
    """A message that ends the command with exit status 1."""


# ---------------------------------------------------------------- the environment


class Environment:
    """The `.venv` of one checkout: the paths of its parts, and whether it is complete.

    Complete means: its stamp, written last, names this checkout, this Python and these versions.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".venv"
        self.stamp = self.folder / "workbench.json"
        self.log = self.folder / "install.log"
        windows = os.name == "nt"
        self.python = self.folder / ("Scripts/python.exe" if windows else "bin/python")
        version = "python{}.{}".format(*sys.version_info[:2])
        self.packages = self.folder / ("Lib/site-packages" if windows else "lib/" + version + "/site-packages")

    def maker(self) -> list[str]:
        """What made the environment: when this changes, the environment is made again."""
        version = "{} {}.{}".format(platform.python_implementation(), *sys.version_info[:2])
        return [version, platform.system(), platform.machine(), str(self.root)]

    def versions(self) -> str:
        """Hash of what is to be installed: when it changes, pip runs again."""
        named = (self.root / "pyproject.toml", self.root / "packaging" / "constraints.txt")
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in named)).hexdigest()

    def read_stamp(self) -> dict[str, Any]:
        """The stamp of the last finished installation; empty when there is none or it is damaged."""
        try:
            stamp = json.loads(self.stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) else {}

    def write_stamp(self, extras: "Iterable[str]") -> None:
        stamp = {"maker": self.maker(), "versions": self.versions(), "extras": sorted(extras)}
        half = self.stamp.with_suffix(".half")
        half.write_text(json.dumps(stamp), encoding="utf-8")
        os.replace(half, self.stamp)

    def lacks(self, extras: "Iterable[str]") -> str:
        """What must be done so that `extras` can be used: "nothing", "install" or "make" (all of it, from nothing)."""
        stamp = self.read_stamp()
        if stamp.get("maker") != self.maker() or not self.python.exists() or not self.packages.is_dir():
            return "make"
        if stamp.get("versions") != self.versions() or not set(extras) <= set(stamp.get("extras", ())):
            return "install"
        return "nothing"


def requirements(root: Path, extras: "Iterable[str]") -> list[str]:
    """The requirements from pyproject.toml, as arguments of pip."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    further = [line for extra in extras for line in project["optional-dependencies"].get(extra, [])]
    return [*project["dependencies"], *further]


# ---------------------------------------------------------------- what the machine has to be


# The least that the pinned packages are made for: PySide6's on Linux, PyTorch's on macOS.
GLIBC = {
    "x86_64": ((2, 34), "Ubuntu 22.04, Debian 12, RHEL 9"),
    "aarch64": ((2, 39), "Ubuntu 24.04, Debian 13, RHEL 10"),
}
MACOS = 14


def sentence_for_machine(system: str, machine: str, release: str, bits: int = 64) -> str:
    """Why there are no packages for this machine; empty where there are, and on systems that nobody has tried.

    `release` is that of glibc on Linux, empty where there is none, that of macOS on a Mac, and not used on Windows.
    """
    if bits < 64:
        return f"This Python has {bits} bits, and PyTorch has packages for 64 alone. Use a Python with 64."
    if system == "Windows" and machine.upper() == "ARM64":
        return "PyTorch has no packages for a Python made for ARM. Start this file with an x64 Python: Windows runs it."
    numbers = tuple(int(number) for number in re.findall(r"\d+", release)[:2])
    if system == "Darwin" and machine == "x86_64":
        advice = "On a Mac with Apple silicon, start this file with a Python made for it (arm64)."
        return f"PyTorch has no packages for Intel processors of Macs any more. {advice}"
    if system == "Darwin" and numbers and numbers[0] < MACOS:
        return f"PyTorch's packages need macOS {MACOS} or newer; this is {release}."
    if system == "Linux" and machine not in GLIBC:
        return f"PyTorch has no packages for {machine} processors on Linux."
    if system == "Linux" and not numbers:
        return "PyTorch has no packages for a Linux without glibc, such as Alpine. Use one with it, such as Debian."
    if system == "Linux" and numbers < GLIBC[machine][0]:
        least, systems = GLIBC[machine]
        return "Qt's packages need glibc {}.{} or newer ({}); this is {}.".format(*least, systems, release)
    return ""


def check_machine() -> None:
    system = platform.system()
    release = platform.mac_ver()[0] if system == "Darwin" else platform.libc_ver()[1]
    said = sentence_for_machine(system, platform.machine(), release, 64 if sys.maxsize > 2**32 else 32)
    if said:
        raise Trouble(said + " Nothing was installed.")


# ---------------------------------------------------------------- system libraries


def is_missing(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return True
    return False


def lacks_ensurepip() -> bool:
    """Whether ensurepip is missing, as in Debian's python3: it installs pip into a new environment."""
    try:
        import ensurepip  # noqa: F401 - imported as a check, not used
    except ImportError:
        return True
    return False


def command_for(missing: "Collection[Part]", which: "Callable[[str], str | None]" = shutil.which) -> str:
    """The command that installs these (library, package) pairs on this machine; empty when the system is not known."""
    capabilities = [f"'{library}()(64bit)'" for library, _ in missing if ".so" in library]
    if which("apt-get"):
        return "apt-get install -y --no-install-recommends " + " ".join(package for _, package in missing)
    if which("dnf"):
        return "dnf install -y " + " ".join(capabilities)
    if which("zypper"):
        return "zypper install -y " + " ".join(capabilities)
    return ""


def missing_parts(qt: bool, new: bool) -> "list[Part]":
    """What the system lacks, as (library, package): for Qt's window, and for a new environment."""
    missing = [pair for pair in LIBRARIES if is_missing(pair[0])] if qt else []
    if new and lacks_ensurepip():
        missing.append(("ensurepip", "python{}.{}-venv".format(*sys.version_info[:2])))
    return missing


def check_system(qt: bool, new: bool) -> None:
    """Check the system libraries before Qt starts: when one is missing, Qt only says "could not load the plugin"."""
    missing = missing_parts(qt, new) if platform.system() == "Linux" else []
    if not missing:
        return
    command = command_for(missing)
    if sys.platform != "win32" and os.geteuid() == 0 and command.startswith("apt-get"):
        install_with_apt(command)
        missing = missing_parts(qt, new)
    if missing:
        raise Trouble(sentence_for_libraries(missing, command))


def sentence_for_libraries(missing: "Iterable[Part]", command: str) -> str:
    names = ", ".join(library for library, _ in missing)
    if not command:
        return f"Parts of the system are missing: {names}. Install them and call this again."
    return f"Parts of the system are missing ({names}). Install them with\n\n    sudo {command}\n"


def install_with_apt(command: str) -> None:
    """Install packages as root on Debian or Ubuntu; fetches the package lists first if they are missing."""
    say("Installing system libraries: " + command)
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for attempt in (command, "apt-get update", command):
        done = subprocess.run(attempt.split(), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if attempt == command and done.returncode == 0:
            return
    raise Trouble(f"The system libraries could not be installed; `{command}` ended with: {last_line(done.stdout)}")


# ---------------------------------------------------------------- installing


def say(text: str) -> None:
    print(text, flush=True)


def last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def space_needed() -> int:
    """Bytes for .venv with what pip has fetched, at their largest (measured: 7.7 GB): on Linux torch brings CUDA."""
    return (8 if platform.system() == "Linux" else 3) * 10**9


def cache_choice(folder: Path, free: float | None = None) -> list[str]:
    """The argument of pip that leaves its cache alone, when the disk has no room for a second copy of the downloads."""
    free = shutil.disk_usage(folder).free if free is None else free
    return [] if free > space_needed() + PIP_CACHE else ["--no-cache-dir"]


def check_space(folder: Path, free: float | None = None) -> None:
    free = shutil.disk_usage(folder).free if free is None else free
    if free < space_needed():
        raise Trouble(
            f"The disk of {folder} has {free / 1e9:.1f} GB free and the installation takes about "
            f"{space_needed() / 1e9:.0f} GB: make room and call this again."
        )


def sentence_for_pip(log: str) -> str:
    """The reason why pip failed, from its output."""
    if re.search(DISK_FULL, log):
        return "The disk became full while installing: make room and call this again."
    if LONG_PATHS in log:
        return (
            "A file of the packages has a path of over 260 letters, which Windows refuses: move this folder nearer to "
            "the root of its disk, or allow long paths (LongPathsEnabled), and call this again."
        )
    if re.search(NO_TRUST, log):
        return "The package server's certificate was not accepted: check the clock and the proxy of this machine."
    if re.search(NO_NETWORK, log):
        return "The packages could not be fetched: there is no connection to the package server. Check the network."
    absent = re.search(r"No matching distribution found for (\S+)", log)
    if absent:
        here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
        return f"There is no build of {absent.group(1)} for {here}."
    errors = re.findall(r"^ERROR: (.+)$", log, re.MULTILINE)
    return "The packages could not be installed" + (": " + errors[-1].rstrip(".") if errors else "") + "."


def shown(line: str) -> str:
    """A line of pip's output, shortened for the terminal; empty for most lines."""
    fetched = re.match(r"\s*Downloading (\S+?)-(\d[^-]*)-\S+\.whl \(([\d.]+ [MG]B)\)", line)
    if fetched:
        return "  {} {} ({})".format(*fetched.groups())
    packages = re.match(r"Installing collected packages: (.+)", line)
    if packages:
        number = len(packages.group(1).split(", "))
        return "  unpacking {} package{}".format(number, "" if number == 1 else "s")
    return ""


@contextmanager
def alone(root: Path) -> "Iterator[tuple[int, ...]]":
    """Allow one installation at a time; a second call waits.

    Yields the descriptors of the lock. pip inherits them, so that the lock lasts as long as pip runs, even when this
    call is killed. On Windows there is no such lock, and none is taken.
    """
    if sys.platform == "win32":
        yield ()
        return
    import fcntl

    with open(root / "packaging" / "constraints.txt", "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another installation into this folder is under way: waiting for it.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield (file.fileno(),)


def follow(
    command: "Sequence[str]", env: "Mapping[str, str]", log: Path, start: float, inherited: "Collection[int]" = ()
) -> int:
    """Run pip, show its progress with the seconds since `start` and append its output to `log`. Returns its status."""
    with log.open("a", encoding="utf-8") as kept, subprocess.Popen(
        command, env=env, pass_fds=inherited, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        errors="replace",
    ) as pip:  # fmt: skip
        assert pip.stdout is not None
        try:
            for line in pip.stdout:
                kept.write(line)
                if shown(line):
                    say(f"{time.monotonic() - start:5.0f} s{shown(line)}")
        except BaseException:  # Ctrl+C, or a full disk under the log: pip must not continue in the background
            pip.kill()
            raise
    return pip.returncode


def refuse_foreign_link(environment: Environment) -> None:
    """Refuse a `.venv` that is a link to a folder of others: `venv --clear` would follow it and empty that folder."""
    folder = environment.folder
    if not folder.is_symlink():
        return
    maker = environment.read_stamp().get("maker")
    own = isinstance(maker, list) and maker[-1:] == [str(environment.root)]
    if own or (folder.is_dir() and not any(folder.iterdir())):
        return
    raise Trouble(
        f"{folder} is a link to {os.readlink(folder)}, which is not an environment of this folder and was not changed: "
        "remove the link and call this again."
    )


def make(environment: Environment) -> None:
    """Make an empty `.venv` in place of what was there; behind a link only where that is this checkout's own."""
    refuse_foreign_link(environment)
    if Path(sys.prefix).resolve() == environment.folder.resolve():
        raise Trouble("The .venv has to be made again: call this with the Python of the system, not with its own.")
    command = [sys.executable, "-m", "venv", "--clear", str(environment.folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        reason = done.stdout.decode("utf-8", "replace")
        full = "the disk is full" if re.search(DISK_FULL, reason) else last_line(done.stdout)
        raise Trouble("The folder {} could not be made: {}.".format(environment.folder, full.rstrip(".")))


def steps(wanted: list[str]) -> list[list[str]]:
    """The calls of pip, one after the other. Each removes its downloads, so torch's 3 GB never lie beside the rest."""
    torch = [line for line in wanted if re.match(r"torch\b", line)]
    return [["--no-deps", *torch], torch, wanted] if torch else [wanted]


def install(environment: Environment, extras: "Iterable[str]", inherited: "Collection[int]" = ()) -> None:
    """Install the pinned packages, and write a .pth file that puts this checkout on the environment's path."""
    environment.stamp.unlink(missing_ok=True)
    environment.log.unlink(missing_ok=True)
    pins = environment.root / "packaging" / "constraints.txt"
    pip = [str(environment.python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    pip += ["--progress-bar", "off", "--only-binary", ":all:", "-c", str(pins), *cache_choice(environment.root)]
    start = time.monotonic()
    for step in steps(requirements(environment.root, extras)):
        if fetch(environment, pip + step, start, inherited):
            reason = sentence_for_pip(environment.log.read_text(encoding="utf-8", errors="replace"))
            raise Trouble(f"{reason} Details: {environment.log}")
    way = os.path.relpath(environment.root, environment.packages)  # relative, so that the folder may have any name
    (environment.packages / "workbench-checkout.pth").write_text(way + "\n", encoding="ascii")


def fetch(environment: Environment, command: "Sequence[str]", start: float, inherited: "Collection[int]") -> int:
    """Call pip with a folder for its downloads that is removed afterwards. Returns its exit status."""
    downloads = environment.folder / "downloads"  # on the same disk as .venv: /tmp is often small
    downloads.mkdir(exist_ok=True)
    variables = dict(os.environ, TMPDIR=str(downloads), TEMP=str(downloads), TMP=str(downloads))
    status = follow(command, variables, environment.log, start, inherited)
    shutil.rmtree(downloads, ignore_errors=True)
    return status


def write_catalog(environment: Environment) -> None:
    """Write the list of losses, data sets and backbones from which the window makes forms before torch is loaded."""
    code = "from workbench.entries import catalog; catalog.write_now()"
    command = [str(environment.python), "-c", code]
    done = subprocess.run(command, cwd=environment.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        say("The list of losses and data sets could not be prepared: " + last_line(done.stdout))


def prepare(environment: Environment, extras: "Collection[str]", qt: bool) -> None:
    """Do what the environment needs: nothing when it is complete."""
    new = environment.lacks(extras) == "make"
    if new:
        check_machine()
    check_system(qt, new)
    if environment.lacks(extras) != "nothing":
        with alone(environment.root) as inherited:
            bring_up(environment, extras, inherited)


def bring_up(environment: Environment, extras: "Collection[str]", inherited: "Collection[int]") -> None:
    """Make or update the environment, unless another call did so while this one waited."""
    work = environment.lacks(extras)
    if work == "nothing":
        return
    if work == "make":
        check_space(environment.root)
        size = "about 3 GB" if platform.system() == "Linux" else "under 1 GB"
        say(f"Installing into {environment.folder} ({size} to fetch, some minutes).")
        make(environment)
    else:
        say(f"The versions have changed: bringing {environment.folder} up to date.")
        extras = sorted({*extras, *environment.read_stamp().get("extras", ())})
    install(environment, extras, inherited)
    write_catalog(environment)
    environment.write_stamp(extras)


# ---------------------------------------------------------------- the two commands


def has_display(system: str, variables: "Mapping[str, str]") -> bool:
    return system != "Linux" or bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))


def program(arguments: "Sequence[str]", display: bool) -> list[str]:
    """The arguments of `python`: the CLI with the user's arguments, the window, or the sample in the terminal."""
    if arguments:
        return ["-m", "workbench", *arguments]
    return ["-m", "workbench"] if display else ["-m", "workbench", "sample"]


def hand_over(environment: Environment, arguments: "Sequence[str]", variables: dict[str, str]) -> int:
    """Replace this process by the program, which then gets Ctrl+C and sets the exit status; wait for it on Windows."""
    command = [str(environment.python), *arguments]
    sys.stdout.flush()
    if os.name == "posix":
        os.execve(command[0], command, variables)
    process = subprocess.Popen(command, env=variables)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the program gets Ctrl+C, too, and ends by itself


def opens_window(arguments: "Sequence[str]", display: bool) -> bool:
    """Whether Qt will be loaded: the command line does not need it."""
    return arguments[0].partition("=")[0] in ("-w", "--workspace") if arguments else display


def run(arguments: "Sequence[str]") -> int:
    environment = Environment(ROOT)
    display = has_display(platform.system(), os.environ)
    prepare(environment, FORMATS, qt=opens_window(arguments, display))
    if not arguments and not display:
        say("There is no display, so the sample run runs here in the terminal.")
    return hand_over(environment, program(arguments, display), dict(os.environ))


def test_processes() -> int:
    """How many processes run the tests: one more than cores, as tests also wait, if there is memory for it."""
    cores = os.cpu_count() or 1
    memory = 0
    if sys.platform != "win32":
        with suppress(ValueError, OSError):  # on systems that do not say
            memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(MOST_PROCESSES, cores + (memory >= OF_PROCESS * (cores + 1)))


def test(arguments: "Sequence[str]") -> int:
    environment = Environment(ROOT)
    prepare(environment, [*FORMATS, "test"], qt=True)
    variables = dict(os.environ)
    variables.setdefault("QT_QPA_PLATFORM", "offscreen")
    variables.setdefault("PYTHONUTF8", "1")  # the tests write UTF-8 without saying so; the program names its encodings
    os.chdir(ROOT)
    if not arguments:  # all but the slow ones, on a few processes of one thread each
        arguments = ["-m", "not slow", "-n", str(test_processes()), "--dist", "worksteal"]
        variables.setdefault("OMP_NUM_THREADS", "1")
    return hand_over(environment, ["-m", "pytest", *arguments], variables)


def main(arguments: "Sequence[str]") -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command not in ("run", "test"):
        print(USAGE)
        return 0 if command in ("-h", "--help") else 2
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if isinstance(sys.stdout, TextIOWrapper):  # a path may have letters that a file or pipe cannot, on Windows
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return run(rest) if command == "run" else test(rest)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
    except OSError as error:
        print("{}: {}.".format(error.filename or "The installation stopped", error.strerror), file=sys.stderr)
    except KeyboardInterrupt:
        print("\nInterrupted: the next call goes on from here.", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
