"""The blocks of docs/install.md that make a bundle and try it, as a reader types them into a shell.

A copy of the checkout, pip's environment in it, the bundle and its Debian lie below one temporary folder, which is made
once for all tests of this file and deleted: 16 GB, and hours on a busy machine.
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from following import DOCS, EXAMPLES, wait_patiently
from page_blocks import Example
from shell import Reader, skip_without

MAKING = "room for a bundle"
IMAGE = "a bundle, and a source package of Debian"
HERE = "a bundle"
DEBIAN = "a bundle, and root on a Debian"
ROOM = 17e9  # bytes
SYSTEMS = {"Linux": "Linux", "Windows": "Windows", "macOS": "Darwin"}  # as the page's comments say -> as Python does
SOURCES = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(SITE) $(RELEASE) $(COMPONENT)"
PICTURES = ("1-set-up", "2-train", "3-map", "4-retrieval", "5-report", "6-exported")


def block(need: str) -> Example:
    """The one block of the page with this need."""
    (example,) = [example for example in EXAMPLES["install"] if example.needs == need]
    return example


def lines_of(system: str) -> list[str]:
    """Lines of the block that makes bundles whose comment begins with this system; "" for those of all systems."""
    lines = [line.partition("  #") for line in block(MAKING).text.splitlines()]
    stated = [(line, comment.strip().partition(",")[0]) for line, _, comment in lines]
    return [line.strip() for line, name in stated if (name if name in SYSTEMS else "") == system]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader who has typed what makes the folder."""
    if platform.system() != "Linux":
        pytest.skip("the bundle's window is tried with Xvfb, on Linux")
    folder = tmp_path_factory.mktemp("bundle")
    if shutil.disk_usage(folder).free < ROOM:
        pytest.skip(f"less than {ROOM / 1e9:.0f} GB are free")
    wait_patiently()
    try:
        reader = Reader(folder)
        for line in lines_of(""):
            reader.types(line)
        yield reader
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
def test_a_bundle_is_made_and_answers(made: Reader, patient: None) -> None:
    said = made.types("dist/Workbench/workbench doctor", QT_QPA_PLATFORM="offscreen")
    assert "torch" in said
    assert {line.split()[0] for line in said.splitlines() if line} == {"ok"}


@pytest.mark.slow
def test_a_bundle_does_the_main_job_here_and_in_the_window(made: Reader, patient: None) -> None:
    skip_without("Xvfb", "xdotool", "import")
    made.types(block(HERE).text)
    assert made.pictures() == list(PICTURES)


@pytest.mark.slow
def test_a_bundle_does_the_main_job_in_a_bare_debian(made: Reader, patient: None) -> None:
    skip_without("Xvfb", "xdotool", "import", "debootstrap", "unshare")
    if os.geteuid() != 0:
        pytest.skip("debootstrap needs root")
    made.types(block(DEBIAN).text)
    assert made.pictures() == list(PICTURES)
    shutil.rmtree(made.checkout / "FOLDER")


@pytest.mark.slow
def test_an_appdir_is_made_where_there_is_no_runtime(made: Reader, patient: None) -> None:
    """The folder that is there is taken."""
    (line,) = lines_of("Linux")
    made.types(f"{line} --keep")
    assert "workbench" in made.types("dist/Workbench.AppDir/AppRun --version")
    shutil.rmtree(made.checkout / "dist" / "Workbench.AppDir")


@pytest.mark.slow
def test_an_appimage_is_made_with_a_runtime_of_debian(made: Reader, patient: None) -> None:
    """apt has lists and sources of its own here; those of the machine are left alone."""
    skip_without("apt-get", "mksquashfs", "fusermount")
    if platform.freedesktop_os_release()["ID"] != "debian" or platform.machine() != "x86_64":
        pytest.skip("the source package is Debian's, and its AppImages are for x86-64")
    apt = made.checkout.parent / "apt"
    for name in ("state", "cache"):
        (apt / name).mkdir(parents=True)
    asked = ["apt-get", "indextargets", "--format", SOURCES, "Origin: Debian", "Identifier: Packages"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    (apt / "sources.list").write_text(listed, "utf-8")
    options = {"Dir::State": apt / "state", "Dir::Cache": apt / "cache", "Dir::Etc::sourcelist": apt / "sources.list"}
    options |= {"Dir::Etc::sourceparts": "/dev/null", "Dir::State::status": "/var/lib/dpkg/status"}
    (apt / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in options.items()), "utf-8")
    made.types("apt-get update", APT_CONFIG=str(apt / "apt.conf"))
    made.types(block(IMAGE).text, APT_CONFIG=str(apt / "apt.conf"))
    (image,) = (made.checkout / "dist").glob("*.AppImage")
    if Path("/dev/fuse").exists():
        assert "first paint" in made.types(f"python packaging/try_bundle.py here {image} --part starts")
    image.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "line"),
    [pytest.param(name, line, id=line.split()[-1]) for name in ("Windows", "macOS") for line in lines_of(name)],
)
def test_what_other_systems_have_is_made(system: str, line: str) -> None:
    pytest.skip(f"made on {system} by the workflow bundle.yml: {line}")


def test_every_call_of_the_page_is_one_that_the_scripts_understand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS.parent / "packaging"))
    texts = [block(need).text for need in (MAKING, IMAGE, HERE, DEBIAN)]
    lines = [line.partition("  #")[0] for text in texts for line in text.replace("\\\n", " ").splitlines()]
    calls = [
        shlex.split(re.sub(r"\$\(.*?\)", "SUM", line))[1:] for line in lines if line.startswith("python packaging/")
    ]
    assert len(calls) == 8
    try:
        for script, *words in calls:
            import_module(Path(script).stem).arguments(words)
    finally:
        for name in ("bundle", "try_bundle", "contents", "release"):
            sys.modules.pop(name, None)
