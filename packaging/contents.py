"""What a bundle is made of: the one definition that workbench.spec, the AppImage, the installer and the CI read.

Packages are copied whole, file by file, as pip installed them, and Python's own library by PyInstaller. So imports
by name, data files, plug-ins and numba's cache work as in an installation, and no list of hidden imports can be out of
date. Only Qt is left to PyInstaller, which takes the modules that are named here and what they link to.
"""

import py_compile
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import distribution
from pathlib import Path

import release
from release import ROOT

NAME = "Workbench"
COMMAND, WINDOW = "workbench", "workbench-gui"  # the programs of a bundle: with a console on Windows, and without
IDENTIFIER = "org.metric-workbench.workbench"  # of the macOS application
CONFIG_SUFFIX = "toml"  # macOS supports no endings of two parts
PUBLISHER = "Workbench contributors"
ICON = ROOT / "resources" / "desktop" / "metric-workbench.svg"
ICON_SIZE = 512  # px of the picture that icons of Windows and macOS are made from
START = ROOT / "packaging" / "start.py"
VERSION = release.version()
# The program that an AppImage begins with: a release of AppImage/type2-runtime, and SHA-256 of its file by machine.
RUNTIME = "20251108"
RUNTIME_SHA256 = {
    "x86_64": "2fca8b443c92510f1483a883f60061ad09b46b978b2631c807cd873a47ec260d",
    "aarch64": "00cbdfcf917cc6c0ff6d3347d59e0ca1f7f45a6df1a428a0d6d8a78664d87444",
}

QT = ("pyside6-essentials", "shiboken6")  # packages of which PyInstaller takes what these modules need
QT_MODULES = tuple(
    f"PySide6.Qt{name}" for name in ("Core", "DBus", "Gui", "OpenGL", "OpenGLWidgets", "Svg", "Test", "Widgets")
)
# torch.compile needs a C compiler and Python's headers beside triton (1 GB): a bundle has neither.
PACKAGES_LEFT_OUT = ("triton", "pip")
# Parts of Python's standard library that no program of a bundle imports.
LIBRARY_LEFT_OUT = (
    "_tkinter", "antigravity", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "this", "tkinter", "turtle",
    "turtledemo", "venv",
)  # fmt: skip
# Files of the packages, by patterns of their path, that are there to test them, to build against them, or for tools.
FILES_LEFT_OUT = (
    "../*", "*/tests/*", "*.a", "*.bc", "*.cmake", "*.cpp", "*.cu", "*.cuh", "*.h", "*.hpp", "*.lib", "*.pxd", "*.pyi",
    "*.pyx", "torch/bin/protoc*", "torch/include/*", "torch/share/*", "torch/test/*", "torchgen/packaged/*",
    "pyarrow/include/*", "pyarrow/src/*", "pyarrow/libarrow_flight*", "pyarrow/libarrow_python_flight*",
    "pyarrow/_flight*", "matplotlib/mpl-data/sample_data/*", "onnx/backend/test/*", "pyqtgraph/examples/*",
    "nvidia/*/libcusolverMg*", "nvidia/*/libnvperf_*", "nvidia/*/libcheckpoint*", "nvidia/*/libpcsamplingutil*",
    "nvidia/*/bin/*", "nvidia/*/nvvm/*",
)  # fmt: skip
# What PyInstaller adds on Linux, by patterns, and must not: the system's graphics drivers need a C++ library that is as
# new as they are, and GTK loads modules of the system. Qt's translations: the window is English.
ADDED_LEFT_OUT = (
    "libstdc++.so*", "libgcc_s.so*", "*/libqgtk3.so", "libgtk-3.so*", "libgdk*.so*", "libatk*.so*", "libatspi.so*",
    "libcairo*.so*", "libpango*.so*", "libepoxy.so*", "libharfbuzz.so*", "libthai.so*", "libdatrie.so*",
    "libfribidi.so*", "libgraphite2.so*", "*/translations/*",
)  # fmt: skip
# What a start reads before the first paint, by patterns of the path in `_internal`: an AppImage keeps these files as
# they are, for the process that reads the image would unpack them anew at each start. The others are packed.
READ_AT_START = (
    "*.dist-info", "*.so*", "*.zip", "PySide6", "annotated_types", "click", "dateutil", "lib-dynload", "numpy",
    "numpy.libs", "platformdirs*", "pluggy", "psutil", "pydantic", "pydantic_core", "pysqlite3*", "python3*",
    "qtawesome", "shiboken6", "sqlite_fts4", "sqlite_utils", "tomli_w", "typing_extensions.py", "typing_inspection",
    "workbench",
)  # fmt: skip


def packages() -> dict[str, list[str]]:
    """Every installed package that a bundle contains -> the packages that it requires."""
    carried = {name: asked for name, asked in release.packages().items() if name not in PACKAGES_LEFT_OUT}
    return {name: [other for other in asked if other in carried] for name, asked in carried.items()}


def package_files() -> Iterator[tuple[Path, str]]:
    """Every file of the packages and of Workbench, with its path in the bundle; of Qt's packages only the metadata."""
    for name in packages():
        for file in distribution(name).files or ():
            path = file.as_posix()
            is_fact = ".dist-info/" in path
            if (is_fact or name not in QT) and is_kept(path) and (source := Path(str(file.locate()))).is_file():
                yield source, path
    for folder, inside in ((ROOT / "workbench", "workbench"), (ROOT / "resources", "workbench/resources")):
        for source in sorted(folder.rglob("*")):
            if source.is_file() and source.suffix != ".pyc":
                yield source, f"{inside}/{source.relative_to(folder).as_posix()}"


def with_compiled(files: list[tuple[Path, str]], into: Path) -> list[tuple[Path, str]]:
    """The files, with bytecode for the Python files that lack it: a bundle may be read-only.

    Args:
        files: as `package_files` gives them.
        into: the folder that the compiled ones are written to.
    """
    inside, added = {path for _, path in files}, []
    for source, path in files:
        folder, _, name = path.rpartition("/")
        cached = f"{folder}/__pycache__/{name.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc".lstrip("/")
        if path.endswith(".py") and cached not in inside:
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            if py_compile.compile(str(source), str(into / cached), dfile=path, quiet=2, invalidation_mode=mode):
                added.append((into / cached, cached))
    return files + added


def is_kept(path: str, left_out: tuple[str, ...] = FILES_LEFT_OUT) -> bool:
    """Whether a file with this path in the bundle is needed there."""
    return not any(fnmatch(path, pattern) for pattern in left_out)


def carried_names() -> set[str]:
    """The import names of the packages that are copied whole."""
    tops = {path.partition("/")[0] for _, path in package_files() if ".dist-info/" not in path}
    return {top.partition(".")[0] for top in tops}


def library() -> list[str]:
    """The modules of Python's standard library: packages that are copied whole may import any of them."""
    return sorted(name for name in sys.stdlib_module_names if name not in LIBRARY_LEFT_OUT)
