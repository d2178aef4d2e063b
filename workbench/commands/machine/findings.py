"""Whether the machine suits what is installed: driver and PyTorch, system libraries of the window, display."""

import ctypes
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from workbench.files.packages import is_bundle

NVIDIA = "0x10de"  # PCI vendor
NO_DEVICE, MISMATCH = 100, 803  # of cuInit: no GPU to be seen; the kernel's module and the library differ
SONAME = re.compile(rb"lib[\w.+-]+?\.so\.\d+(?:\.\d+)*(?=\0)")
DEBIAN = {"libgthread-2.0.so.0": "libglib2.0-0"}  # packages that are not named after the library
BY_PIP = "`python -m pip install --force-reinstall torch torchvision`, from the address on PyTorch's installation page"
IN_A_BUNDLE = "a bundle has no pip, so take one that was built with it, or an installation by pip (page Install)"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: its subject, a sentence, and whether it is good."""

    what: str
    said: str
    good: bool = True


@dataclass(frozen=True, slots=True)
class Cuda:
    """What decides whether PyTorch can use an NVIDIA GPU.

    Args:
        gpu: whether the machine has one, as far as the system tells.
        status: of the driver's cuInit; None if there is no driver.
        driver: newest CUDA that the driver supports, (12, 4); (0, 0) when it does not tell.
        built: CUDA that PyTorch was built for, (12, 6); None for a build without CUDA.
        compute: capability of the first GPU, (9, 0); None when PyTorch sees none.
        kernels: what PyTorch was built for: "sm_90", "compute_90".
    """

    gpu: bool
    status: int | None
    driver: tuple[int, int] = (0, 0)
    built: tuple[int, int] | None = None
    compute: tuple[int, int] | None = None
    kernels: tuple[str, ...] = ()


def reinstall() -> str:
    """How another PyTorch comes in, behind a colon."""
    return IN_A_BUNDLE if is_bundle() else BY_PIP


def driver_findings() -> list[Finding]:
    """Whether the NVIDIA driver and this PyTorch go together; nothing without a GPU and a driver. Loads torch."""
    import torch

    status, driver = _driver()
    seen = status is not None and torch.cuda.is_available()
    built = torch.version.cuda
    return judge_driver(
        Cuda(
            gpu=_has_nvidia_gpu(),
            status=status,
            driver=driver,
            built=None if built is None else _numbers(built),
            compute=torch.cuda.get_device_capability() if seen else None,
            kernels=tuple(torch.cuda.get_arch_list()) if seen else (),
        )
    )


def judge_driver(facts: Cuda) -> list[Finding]:
    """The finding for these facts, with the command to type; none if there is neither GPU nor driver."""
    if facts.status is None:
        return [_driver_problem(f"there is an NVIDIA GPU, but no driver. {_driver_command()}")] if facts.gpu else []
    driver = ".".join(map(str, facts.driver))
    if facts.status == MISMATCH:
        return [_driver_problem("it was updated while it was loaded. Restart the machine: `sudo reboot`.")]
    if facts.status == NO_DEVICE and not facts.gpu:
        return []
    if facts.status:
        said = f"it is installed, but finds no GPU that it can use (error {facts.status}). `nvidia-smi` shows more."
        return [_driver_problem(said)]
    if facts.built is None:
        said = f"it supports CUDA {driver}, but this PyTorch is built without CUDA. To take one with it"
        return [_driver_problem(f"{said}: {reinstall()}.")]
    built = ".".join(map(str, facts.built))
    if facts.driver[0] < facts.built[0]:
        said = f"it supports CUDA {driver}, but this PyTorch needs {built}. {_driver_command()} Or take a PyTorch for"
        return [_driver_problem(f"{said} CUDA {facts.driver[0]}: {reinstall()}.")]
    if facts.compute is None:
        return [_driver_problem("PyTorch sees no GPU, though the driver does. Look at `echo $CUDA_VISIBLE_DEVICES`.")]
    if not _has_kernels(facts.compute, facts.kernels):
        capability = ".".join(map(str, facts.compute))
        said = f"this PyTorch has no code for a GPU of compute capability {capability}, only {' '.join(facts.kernels)}."
        return [_driver_problem(f"{said} Install another PyTorch: {reinstall()}.")]
    return [Finding("NVIDIA driver", f"supports CUDA {driver}; PyTorch is built for {built}")]


def _driver_problem(said: str) -> Finding:
    return Finding("NVIDIA driver", said, good=False)


def _has_kernels(compute: tuple[int, int], kernels: Iterable[str]) -> bool:
    """Code of a GPU runs on those of the same major number and no older; `compute_` is compiled for any newer GPU."""
    for name in kernels:
        kind, _, digits = name.rpartition("_")
        number = re.match(r"\d+", digits)
        if number is None:
            continue
        major, minor = divmod(int(number[0]), 10)
        if (major, minor) <= compute and (kind == "compute" or major == compute[0]):
            return True
    return False


def _driver_command() -> str:
    ids = _distribution()
    if "ubuntu" in ids:
        return "Type `sudo ubuntu-drivers install` and restart."
    if "debian" in ids:
        return "Type `sudo apt-get install nvidia-driver` and restart."
    if "fedora" in ids:
        return "Type `sudo dnf install akmod-nvidia` and restart."
    if "arch" in ids:
        return "Type `sudo pacman -S nvidia` and restart."
    return "Install NVIDIA's current driver and restart."


def _driver() -> tuple[int | None, tuple[int, int]]:
    """Status of cuInit, None without a driver; and the newest CUDA that the driver supports."""
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        number = ctypes.c_int(0)
        status = int(library.cuInit(0))
        library.cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return None, (0, 0)
    return status, (number.value // 1000, number.value % 1000 // 10)


def _has_nvidia_gpu() -> bool:
    """Whether there is a GPU: on Linux by the list of PCI devices; False on other systems, where the driver tells."""
    for device in Path("/sys/bus/pci/devices").glob("*"):
        with suppress(OSError):
            is_display = (device / "class").read_text("ascii").startswith("0x03")
            if is_display and (device / "vendor").read_text("ascii").strip() == NVIDIA:
                return True
    return False


def _numbers(text: str) -> tuple[int, int]:
    major, minor, *_ = [int(part) for part in re.findall(r"\d+", text)] + [0]
    return major, minor


def display_findings() -> list[Finding]:
    """Where the window opens, and which system libraries Qt lacks for it. Loads Qt's plug-in, not its Python."""
    if not sys.platform.startswith("linux"):
        return [Finding("Display", "not checked on this system")]
    findings, plugin = judge_display(os.environ)
    package = find_spec("PySide6")
    if plugin and package is not None and package.submodule_search_locations:
        findings += _libraries(Path(package.submodule_search_locations[0]) / "Qt", plugin)
    return findings


def judge_display(variables: Mapping[str, str]) -> tuple[list[Finding], str]:
    """A description of the display by the environment, and the name of its Qt plug-in ("" for none)."""
    if chosen := variables.get("QT_QPA_PLATFORM", "").partition(";")[0].partition(":")[0]:
        return [Finding("Display", f"Qt uses {chosen} (QT_QPA_PLATFORM)")], chosen
    if wayland := variables.get("WAYLAND_DISPLAY"):
        said = f"Wayland ({wayland})"
        if variables.get("DISPLAY"):
            said += ". If windows or menus misbehave, use X11: `QT_QPA_PLATFORM=xcb workbench`"
        return [Finding("Display", said)], "wayland"
    if shown := variables.get("DISPLAY"):
        return [Finding("Display", f"X11 ({shown})")], "xcb"
    return [Finding("Display", "none: the window cannot open, the command line can")], ""


def _libraries(qt: Path, plugin: str) -> list[Finding]:
    path = qt / "plugins" / "platforms" / f"libq{plugin}.so"
    if not path.is_file():
        return [] if plugin == "wayland-egl" else [_lacking(f"PySide6 has no plug-in {plugin}", "")]
    first = _why_not_loaded(path)
    if not first:
        return [Finding("Qt libraries", f"all that {plugin} needs are installed")]
    named = {first.partition(":")[0]}
    for file in (path, *(qt / "lib" / f"libQt6{part}.so.6" for part in ("Gui", "XcbQpa", "WaylandClient"))):
        if file.is_file():
            named |= {match.decode() for match in SONAME.findall(file.read_bytes())}
    missing = sorted(name for name in named if name.startswith("lib") and "Qt6" not in name and _why_not_loaded(name))
    return [judge_libraries(missing or [first], _distribution())]


def judge_libraries(missing: list[str], distribution: str) -> Finding:
    """The finding for libraries that the loader does not find, with the command that installs them."""
    if "debian" in distribution:
        packages = " ".join(sorted({debian_package(name) for name in missing}))
        command = f"sudo apt-get install {packages}"
    elif "arch" in distribution:
        command = f"pacman -F {' '.join(missing)}` names the packages for `sudo pacman -S"
    elif "suse" in distribution or "fedora" in distribution:
        tool = "zypper" if "suse" in distribution else "dnf"
        command = f"sudo {tool} install " + " ".join(f"'{name}()(64bit)'" for name in missing)
    else:
        command = ""
    return _lacking(f"Qt's plug-in for this display lacks {', '.join(missing)}", command)


def debian_package(soname: str) -> str:
    """The Debian and Ubuntu package of a library, by their rule for names: libxcb-cursor.so.0 -> libxcb-cursor0."""
    stem, _, number = soname.lower().partition(".so.")
    return DEBIAN.get(soname, f"{stem}-{number}" if stem[-1].isdigit() or stem.endswith("-x11") else f"{stem}{number}")


def _lacking(said: str, command: str) -> Finding:
    todo = f"Type `{command}`." if command else "Install them with the system's packages."
    return Finding("Qt libraries", f"{said}. {todo}", good=False)


def _why_not_loaded(library: Path | str) -> str:
    """The loader's message, which begins with the missing library; empty if none is missing."""
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        return str(error)
    return ""


def _distribution() -> str:
    """The names by which this Linux and those that it comes from are known, "ubuntu debian"; empty elsewhere."""
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return ""
    return f"{facts.get('ID', '')} {facts.get('ID_LIKE', '')}"
