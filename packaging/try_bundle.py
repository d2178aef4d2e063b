"""The main job with a bundle or an installation, as a person does it: train Digits, look at the map, write the report.

python packaging/try_bundle.py here PROGRAM              by the command line, on any system
python packaging/try_bundle.py window PROGRAM            and in the window, on an X server of its own (Linux)
python packaging/try_bundle.py debian BUNDLE ROOT        both, in a bare Debian at ROOT without Python (Linux, as root)

PROGRAM is `workbench`, with `workbench-gui` beside it, or an AppImage. BUNDLE is a bundle's folder, or an AppImage.
ROOT is made by debootstrap where it is missing, and gets the system libraries of bundle_libraries.txt and nothing else;
for an AppImage also FUSE, unless `--extract` has it unpack itself at each start. `--pictures FOLDER` is for what was
seen.
The window needs Xvfb, xdotool and ImageMagick's `import` on the system that calls this, not in the Debian.
"""

import argparse
import contextlib
import os
import re
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

IMAGE, FUSE = ".AppImage", ("fuse3", "libfuse2")  # libfuse2 is for runtimes from before 2023
LIBRARIES = Path(__file__).with_name("bundle_libraries.txt")
SUITE, PERSON, INSIDE = "bookworm", "person", "/opt/Workbench"
WAIT, STARTS = 1800, 5  # seconds at most for one step; starts that are measured
SCREEN = (1440, 900)
SOCKETS = Path("/tmp/.X11-unix")
OWN_MOUNTS = "WORKBENCH_OWN_MOUNTS"  # set in the second call of this file, whose mounts are its own


@dataclass(frozen=True)
class Place:
    """Where programs run: words before each call, and how a folder of theirs is called from here."""

    before: tuple[str, ...]
    program: str
    home: str  # the user's home folder, as the programs see it
    root: Path  # in front of their paths

    def seen_from_here(self, path: str) -> Path:
        """A path of the programs, as this process sees it."""
        return Path(f"{self.root}{path}") if self.before else Path(path)

    def is_bundle(self) -> bool:
        """Whether the program has its packages with it, those of all formats included."""
        return self.program.endswith(IMAGE) or (self.seen_from_here(self.program).parent / "_internal").is_dir()

    def call(self, *words: str, program: str = "") -> str:
        """The output of a program; if it fails, this program ends and prints it."""
        began, busy = time.monotonic(), children_time()
        done = subprocess.run(
            [*self.before, program or self.program, *words], capture_output=True, text=True, encoding="locale",
            timeout=WAIT, check=False,
        )  # fmt: skip
        wall, busy = time.monotonic() - began, children_time() - busy
        print(f"  {wall:6.1f} s, {busy:6.1f} s of processor time: workbench {' '.join(words)}", flush=True)
        if done.returncode:
            sys.exit(f"{words} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout


def children_time() -> float:
    """Processor time of all processes that were waited for, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def expect(holds: bool, what: str) -> None:
    """Print what was expected if it holds; else end this program with exit status 1."""
    if not holds:
        sys.exit(f"NOT SO: {what}")
    print(f"  ok: {what}", flush=True)


def wait_for(holds: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds; end this program after WAIT seconds."""
    latest = time.monotonic() + WAIT
    while not holds():
        if time.monotonic() > latest:
            sys.exit(f"NOT SO after {WAIT} s: {what}")
        time.sleep(0.5)
    print(f"  ok: {what}", flush=True)


def by_command(place: Place) -> None:
    """Train Digits, make its map and report, and check what differs between a bundle and an installation."""
    space = f"{place.home}/by-command"
    expect("workbench" in place.call("--version"), "the program answers")
    print(re.sub(r"^", "    ", place.call("doctor").rstrip(), flags=re.MULTILINE))
    place.call("sample", "--epochs", "3", "--workspace", space)
    runs = place.call("list", "runs", "--workspace", space)
    expect("done" in runs, "Digits is trained")
    place.call("report", "1", "--workspace", space, "--format", "html", "--format", "pdf", "--out", f"{place.home}/out")
    written = place.seen_from_here(f"{place.home}/out")
    expect(next(written.glob("*.pdf")).read_bytes().startswith(b"%PDF"), "the report is written as HTML and PDF")
    place.call("run", "sample-digits", "--set", "training.epochs=1", "--devices", "cpu,cpu", "--workspace", space)
    expect("2" in place.call("list", "runs", "--workspace", space), "two processes train one run")
    formats = ("npy", "parquet", "onnx") if place.is_bundle() else ("npy",)
    words = [word for name in formats for word in ("--format", name)]
    place.call("export", "1", *words, "--out", f"{place.home}/exported", "--workspace", space)
    exported = {path.suffix for path in place.seen_from_here(f"{place.home}/exported").rglob("*")}
    expect({f".{name}" for name in formats} <= exported, f"a run is exported as {', '.join(formats)}")


def of_plugins(place: Place) -> None:
    """Check plug-ins: a file in an added folder, and a package with an entry point in the folder for packages."""
    place.call("new", "loss", "tried_file", "--into", f"{place.home}/plugins")
    place.call("plugins", "add", f"{place.home}/plugins")
    packages = place.seen_from_here(f"{place.home}/.config/workbench/site-packages")
    facts = packages / "tried-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: tried\nVersion: 1.0\n", "utf-8")
    (facts / "entry_points.txt").write_text("[workbench.losses]\ntried = tried_package\n", "utf-8")
    place.call("new", "loss", "tried_package", "--into", f"{place.home}/package")
    source = place.seen_from_here(f"{place.home}/package") / "tried_package.py"
    (packages / "tried_package.py").write_bytes(source.read_bytes())
    known = place.call("list", "losses")
    expect("tried_file" in known, "a plug-in in a folder is loaded")
    expect("tried_package" in known, "a package with an entry point is loaded")
    words = ("--set", "loss.name=tried_file", "--set", "training.epochs=1")
    place.call("run", "sample-digits", *words, "--workspace", f"{place.home}/by-command")


def starts(place: Place) -> None:
    """Times of the window until its first paint, each with the processor time that it took."""
    for number in range(STARTS):
        said = place.call("--workspace", f"{place.home}/start", "--measure-start")
        load = ""
        if sys.platform != "win32":  # which has no load average
            load = f"; load {os.getloadavg()[0]:.1f}"
        print(f"  start {number + 1}: {said.strip()}{load}", flush=True)


@contextlib.contextmanager
def x_server() -> Iterator[str]:
    """Start an X server without a window manager; returns its display."""
    read, write = os.pipe()
    words = ["-displayfd", str(write), "-screen", "0", f"{SCREEN[0]}x{SCREEN[1]}x24", "-nolisten", "tcp", "-ac"]
    server = subprocess.Popen(["Xvfb", *words], pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read, encoding="ascii") as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


class Screen:
    """Sends keys to the window and takes screenshots."""

    def __init__(self, display: str, pictures: Path) -> None:
        self._env = {**os.environ, "DISPLAY": display}
        self._pictures = pictures

    def tool(self, *words: str) -> str:
        """The output of xdotool or ImageMagick."""
        return subprocess.run(words, env=self._env, capture_output=True, check=False).stdout.decode().strip()

    def window(self) -> str:
        """The number of Workbench's main window; empty while there is none."""
        return self.tool("xdotool", "search", "--onlyvisible", "--name", "Workbench").partition("\n")[0]

    def fill(self) -> None:
        """Make the window as large as the screen and give it the keyboard."""
        number = self.window()
        self.tool("xdotool", "windowmove", number, "0", "0")
        self.tool("xdotool", "windowsize", number, *map(str, SCREEN))
        self.tool("xdotool", "windowfocus", "--sync", number)

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        self.tool("xdotool", "key", "--delay", "200", *keys)

    def write(self, text: str) -> None:
        """Write letters."""
        self.tool("xdotool", "type", "--delay", "80", text)

    def picture(self, name: str) -> None:
        """Save a screenshot."""
        self._pictures.mkdir(parents=True, exist_ok=True)
        self.tool("import", "-window", "root", str(self._pictures / f"{name}.png"))


def by_window(place: Place, display: str, pictures: Path) -> None:
    """Open the window, press the keys of the main job, and take a picture of each page."""
    screen = Screen(display, pictures)
    space = f"{place.home}/by-window"
    folder = place.seen_from_here(space)
    is_image = place.program.endswith(IMAGE)
    program = (
        place.program if is_image else str(Path(place.program).with_name(f"workbench-gui{Path(place.program).suffix}"))
    )
    window = subprocess.Popen([*place.before, program, "--workspace", space])
    try:
        wait_for(lambda: bool(screen.window()), "the window is open")
        screen.fill()
        time.sleep(20)  # torch is loaded behind the window; Start waits for it anyway
        screen.picture("1-set-up")
        screen.press("ctrl+Return")
        wait_for(lambda: any(folder.glob("runs/*")), "Ctrl+Return starts a run")
        screen.press("ctrl+2")
        wait_for(lambda: statuses(folder) == ["done"], "Digits is trained in the window")
        time.sleep(5)
        screen.picture("2-train")
        screen.press("ctrl+3")
        wait_for(lambda: any(folder.rglob("map-*umap*")), "the map is made")
        time.sleep(10)
        screen.picture("3-map")
        screen.press("ctrl+4")
        time.sleep(10)
        screen.picture("4-retrieval")
        screen.press("ctrl+6")
        time.sleep(20)
        screen.picture("5-report")
        screen.press("ctrl+shift+p")
        time.sleep(2)
        screen.write("export report")
        time.sleep(1)
        screen.press("Return")
        wait_for(lambda: any(folder.rglob("report*.pdf")), "the report is exported from the window")
        screen.picture("6-exported")
        screen.fill()  # no window manager gives the keyboard back after a dialog
        screen.press("ctrl+q")
        wait_for(lambda: window.poll() is not None, "Ctrl+Q ends the window")
    finally:
        window.kill()
        window.wait()


def statuses(workspace: Path) -> list[str]:
    """The statuses of all runs, read without Workbench: an AppImage may take minutes to answer."""
    with contextlib.closing(sqlite3.connect(f"file:{workspace / 'workspace.db'}?mode=ro", uri=True)) as database:
        return [status for (status,) in database.execute("select status from runs")]


def make_debian(root: Path, more: tuple[str, ...]) -> None:
    """A Debian of the smallest kind, with the libraries that docs/install.md names and more, and a person in it."""

    def run(*words: str) -> None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

    if not (root / "etc" / "debian_version").is_file():
        run("debootstrap", "--variant=minbase", SUITE, str(root))
    libraries = [*LIBRARIES.read_text("utf-8").split(), *more]
    installed = subprocess.run(["chroot", str(root), "dpkg", "-s", *libraries], capture_output=True, check=False)
    if installed.returncode:
        run("chroot", str(root), "apt-get", "update", "-qq")
        run("chroot", str(root), "env", "DEBIAN_FRONTEND=noninteractive",
            "apt-get", "install", "-y", "-qq", "--no-install-recommends", *libraries)  # fmt: skip
    if not (root / "home" / PERSON).is_dir():
        run("chroot", str(root), "useradd", "--create-home", PERSON)
    for name in ("python3", "gcc", "pip"):
        there = subprocess.run(
            ["chroot", str(root), "sh", "-c", f"command -v {name}"], capture_output=True, check=False
        )
        expect(there.returncode != 0, f"the Debian has no {name}")


def mount(bundle: Path, root: Path) -> None:
    """Mount the bundle, read-only, and what every Linux has, below the root, until this process ends."""

    def run(*words: str) -> None:
        subprocess.run(words, check=True)

    inside = Path(f"{root}{inside_of(bundle)}")
    if bundle.is_dir():
        inside.mkdir(parents=True, exist_ok=True)
    else:
        inside.touch()
    run("mount", "--bind", str(bundle.resolve()), str(inside))
    run("mount", "-o", "remount,bind,ro", str(inside))
    run("mount", "-t", "proc", "proc", str(root / "proc"))
    run("mount", "--rbind", "/dev", str(root / "dev"))
    if sys.platform != "win32" and (fuse := root / "dev" / "fuse").exists():  # writable for everybody, as on a desktop
        own = root / "var" / "fuse"
        own.unlink(missing_ok=True)
        os.mknod(own, stat.S_IFCHR, fuse.stat().st_rdev)
        own.chmod(0o666)
        run("mount", "--bind", str(own), str(fuse))
    sockets = root / "tmp" / SOCKETS.name
    sockets.mkdir(exist_ok=True)
    run("mount", "--bind", str(SOCKETS), str(sockets))


def inside_of(bundle: Path) -> str:
    """The path of the bundle in the Debian."""
    return INSIDE if bundle.is_dir() else f"{INSIDE}{IMAGE}"


def in_debian(bundle: Path, root: Path, display: str, extract: bool) -> Place:
    """Calls as a user of the Debian, with a separate environment."""
    variables = {
        "HOME": f"/home/{PERSON}", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "DISPLAY": display,
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        **({"APPIMAGE_EXTRACT_AND_RUN": "1"} if extract else {}),
    }  # fmt: skip
    before = ["chroot", f"--userspec={PERSON}", str(root), "env", "-i", *(f"{k}={v}" for k, v in variables.items())]
    program = f"{INSIDE}/workbench" if bundle.is_dir() else inside_of(bundle)
    return Place(tuple(before), program, f"/home/{PERSON}", root)


def arguments(words: list[str]) -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="packaging/try_bundle.py", description="Do the main job with a bundle.")
    parser.add_argument("how", choices=("here", "window", "debian"))
    parser.add_argument(
        "program", type=Path, help="`workbench` or an AppImage; for debian a bundle's folder or an AppImage"
    )
    parser.add_argument("root", type=Path, nargs="?", help="of the Debian")
    parser.add_argument("--pictures", type=Path, default=Path("dist") / "pictures")
    parser.add_argument("--extract", action="store_true", help="an AppImage unpacks itself, as without FUSE")
    parser.add_argument("--part", choices=("all", "command", "plugins", "starts", "window"), default="all")
    return parser.parse_args(words)


def try_all(place: Place, display: str, options: argparse.Namespace) -> None:
    """Run the requested parts; that of the window only with a display."""
    if options.part in ("all", "command"):
        by_command(place)
    if options.part in ("all", "plugins") and place.is_bundle():
        of_plugins(place)
    if options.part in ("all", "starts"):
        starts(place)
    if display and options.part in ("all", "window"):
        by_window(place, display, options.pictures)


def main(words: list[str]) -> int:
    """Run the trial; returns the exit status."""
    options = arguments(words)
    if options.how == "debian":
        if OWN_MOUNTS not in os.environ:
            again = ["unshare", "--mount", "--propagation", "private", sys.executable, __file__, *words]
            return subprocess.run(again, env={**os.environ, OWN_MOUNTS: "1"}, check=False).returncode
        make_debian(options.root, () if options.extract or options.program.is_dir() else FUSE)
        with x_server() as display:
            mount(options.program, options.root)
            try_all(in_debian(options.program, options.root, display, options.extract), display, options)
        return 0
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        display = stack.enter_context(x_server()) if options.how == "window" else ""
        variables = {"HOME": home, "XDG_CONFIG_HOME": f"{home}/.config", "XDG_CACHE_HOME": f"{home}/.cache"}
        screen = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"} if display else {"QT_QPA_PLATFORM": "offscreen"}
        os.environ.update(variables | screen)
        try_all(Place((), str(options.program.resolve()), home, Path("/")), display, options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
