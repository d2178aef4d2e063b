"""A bundle of Workbench with its own Python, from the environment that runs this file.

python packaging/bundle.py folder       dist/Workbench on every system, with Workbench.app on macOS
python packaging/bundle.py appimage     the folder, then one file for Linux
python packaging/bundle.py installer    the folder, then the installer for Windows (needs Inno Setup)
python packaging/bundle.py dmg          the folder, then the disk image for macOS

Options: --to FOLDER (default dist), --keep (use the existing folder). For an AppImage: --runtime FILE, the type-2
runtime that the file begins with (without one an AppDir is made), --sha256 HASH of that file where it is not the
release that contents.py names, --compression gzip for a runtime that reads no zstd.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import contents
import release

BLOCK = "128K"  # of the squashfs: a start reads small parts of large files, and each part needs its whole block
LEVELS = {"zstd": "15", "gzip": "1"}  # gzip is for trials with a runtime from before 2023: quick, and larger


def draw_icon(path: Path) -> None:
    """Draw the icon as a PNG, from which PyInstaller makes the formats of Windows and macOS."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    app = QGuiApplication.instance() or QGuiApplication([])
    image = QImage(contents.ICON_SIZE, contents.ICON_SIZE, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(contents.ICON)).render(painter)
    painter.end()
    path.parent.mkdir(parents=True, exist_ok=True)
    if not image.save(str(path)):
        raise OSError(f"{path} cannot be written")
    del app


def size(folder: Path) -> int:
    """Bytes of all files below a folder; what links lead to is counted once."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def make_folder(to: Path) -> Path:
    """Build the folder with both programs and the lists of what is in it."""
    work = to / "work"
    icon = work / "icon.png"
    draw_icon(icon)
    words = ["--noconfirm", "--distpath", str(to), "--workpath", str(work), "--log-level", "INFO"]
    subprocess.run(
        [sys.executable, "-m", "PyInstaller", *words, str(release.ROOT / "packaging" / "workbench.spec")],
        env={**os.environ, "WORKBENCH_BUNDLE_ICON": str(icon)},
        check=True,
    )
    shutil.rmtree(work)
    folder = to / contents.NAME
    release.write_sbom(contents.packages(), folder)
    return folder


def apprun() -> str:
    """The start script of an AppImage: the window without arguments or with a config file, else the command line."""
    return f"""#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
case "$1" in
  "" | *.{contents.CONFIG_SUFFIX}) exec "$here/usr/lib/{contents.NAME}/{contents.WINDOW}" "$@" ;;
  *) exec "$here/usr/lib/{contents.NAME}/{contents.COMMAND}" "$@" ;;
esac
"""


def make_appdir(folder: Path, to: Path) -> Path:
    """Turn the folder into an AppDir, with the program, the menu entry and the icon where an AppImage has them."""
    appdir = to / f"{contents.NAME}.AppDir"
    shutil.rmtree(appdir, ignore_errors=True)
    (appdir / "usr" / "lib").mkdir(parents=True)
    shutil.copytree(folder, appdir / "usr" / "lib" / contents.NAME, symlinks=True, copy_function=os.link)
    run = appdir / "AppRun"
    run.write_text(apprun(), "utf-8")
    run.chmod(0o755)
    entry = (contents.ICON.with_suffix(".desktop")).read_text("utf-8").format(program="AppRun", tried="AppRun")
    lines = [line for line in entry.splitlines() if not line.startswith("TryExec=")]
    lines.append(f"X-AppImage-Version={contents.VERSION}")
    (appdir / contents.ICON.with_suffix(".desktop").name).write_text("\n".join(lines) + "\n", "utf-8")
    shutil.copy(contents.ICON, appdir / contents.ICON.name)
    (appdir / ".DirIcon").symlink_to(contents.ICON.name)
    types = appdir / "usr" / "share" / "mime" / "packages"
    types.mkdir(parents=True)
    shutil.copy(contents.ICON.with_suffix(".xml"), types)
    return appdir


def check_runtime(runtime: Path, expected: str) -> None:
    """End the program unless the file is a type-2 runtime with this SHA-256: users will execute it."""
    content = runtime.read_bytes()
    if not content.startswith(b"\x7fELF") or content[8:11] != b"AI\x02":
        sys.exit(f"{runtime} is not the runtime of an AppImage of type 2.")
    if (stated := hashlib.sha256(content).hexdigest()) != expected:
        sys.exit(f"The SHA-256 of {runtime} is {stated}, and {expected or 'none'} was expected. See --sha256.")


def kept_as_they_are() -> list[str]:
    """Arguments of mksquashfs (4.5 or newer) that pack the files of a start uncompressed, in blocks of their own."""
    inside = f"usr/lib/{contents.NAME}"
    tests = [f"subpathname({inside}/_internal/{pattern})" for pattern in contents.READ_AT_START]
    tests += [f"pathname({inside}/{name})" for name in (contents.COMMAND, contents.WINDOW)]
    return [word for action in ("uncompressed", "no-fragments") for word in ("-action", f"{action}@{'||'.join(tests)}")]


def make_appimage(folder: Path, to: Path, runtime: Path, compression: str = "zstd") -> Path:
    """Build the AppImage: the runtime, followed by the AppDir as a squashfs. Needs mksquashfs."""
    appdir = make_appdir(folder, to)
    image = to / f"{contents.NAME}-{contents.VERSION}-{platform.machine()}.AppImage"
    image.unlink(missing_ok=True)
    start = runtime.read_bytes()
    words = ["-root-owned", "-noappend", "-no-progress", "-b", BLOCK, "-comp", compression, "-offset", str(len(start))]
    words += ["-Xcompression-level", LEVELS[compression], "-noI", "-noId", *kept_as_they_are()]
    subprocess.run(["mksquashfs", str(appdir), str(image), *words], check=True, stdout=subprocess.DEVNULL)
    with image.open("r+b") as whole:
        whole.write(start)
    image.chmod(0o755)
    shutil.rmtree(appdir)
    return image


def make_installer(folder: Path, to: Path) -> Path:
    """Build the installer for Windows with Inno Setup's iscc."""
    facts = {
        "Name": contents.NAME, "Version": contents.VERSION, "Publisher": contents.PUBLISHER,
        "Window": contents.WINDOW, "Folder": str(folder.resolve()), "To": str(to.resolve()),
    }  # fmt: skip
    script = release.ROOT / "packaging" / "windows.iss"
    subprocess.run(["iscc", "/Q", *(f"/D{key}={value}" for key, value in facts.items()), str(script)], check=True)
    return to / f"{contents.NAME}-{contents.VERSION}-setup.exe"


def make_dmg(folder: Path, to: Path) -> Path:
    """Build the disk image for macOS: the application beside a link to the folder of applications."""
    stage = to / "dmg"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    shutil.copytree(folder.with_suffix(".app"), stage / f"{contents.NAME}.app", symlinks=True)
    (stage / "Applications").symlink_to("/Applications")
    image = to / f"{contents.NAME}-{contents.VERSION}-{platform.machine()}.dmg"
    words = ["-volname", contents.NAME, "-srcfolder", str(stage), "-ov", "-format", "UDZO"]
    subprocess.run(["hdiutil", "create", *words, str(image)], check=True)
    shutil.rmtree(stage)
    return image


def told(path: Path) -> str:
    """A path with its size."""
    return f"{path}: {(size(path) if path.is_dir() else path.stat().st_size) / 1e6:,.0f} MB"


def arguments(words: list[str]) -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="packaging/bundle.py", description="Make a bundle of Workbench.")
    parser.add_argument("what", choices=("folder", "appimage", "installer", "dmg"))
    parser.add_argument("--to", type=Path, default=release.ROOT / "dist")
    parser.add_argument("--keep", action="store_true", help="take the folder that is there")
    parser.add_argument("--runtime", type=Path, help="the type-2 runtime that an AppImage begins with")
    known = contents.RUNTIME_SHA256.get(platform.machine(), "")
    parser.add_argument("--sha256", default=known, help=f"of the runtime; by default of its release {contents.RUNTIME}")
    parser.add_argument("--compression", choices=tuple(LEVELS), default="zstd", help="of an AppImage")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Build the requested bundle; returns the exit status."""
    options = arguments(words)
    if options.runtime is not None:
        check_runtime(options.runtime, options.sha256)
    folder = options.to / contents.NAME
    if not (options.keep and folder.is_dir()):
        folder = make_folder(options.to)
    print(told(folder))
    if options.what == "appimage" and options.runtime is None:
        print(told(make_appdir(folder, options.to)))
        print("No AppImage without --runtime FILE: the AppDir is complete, AppRun in it starts it.")
    elif options.what == "appimage":
        print(told(make_appimage(folder, options.to, options.runtime, options.compression)))
    elif options.what == "installer":
        print(told(make_installer(folder, options.to)))
    elif options.what == "dmg":
        print(told(make_dmg(folder, options.to)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
