"""The definition of the bundle, without building it: packaging/try_bundle.py does the main job with one."""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import workbench
from workbench.commands.machine import desktop

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture
def bundle(monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGING))
    yield import_module("bundle")
    for name in ("bundle", "contents", "release"):
        sys.modules.pop(name, None)


def printed(program, *words, **variables):
    """What start.py prints when it is the program of that name."""
    path = str(PACKAGING / "start.py")
    call = f"import sys, runpy; sys.executable = {program!r}; runpy.run_path({path!r}, run_name='__main__')"
    env = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", call, *words], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_program_is_told_by_its_name_and_runs_modules_as_python_does():
    assert printed("/opt/workbench", "-m", "workbench", "--version").split()[-1] == workbench.__version__
    assert "Open the window" in printed("/opt/workbench-gui", "--help")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG_CONFIG_HOME is read on Linux")
def test_a_bundle_finds_packages_of_the_person(tmp_path):
    folder = tmp_path / "workbench" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "brought.py").write_text("print('brought along')", "utf-8")
    assert printed("/opt/workbench", "-m", "brought", XDG_CONFIG_HOME=str(tmp_path)) == "brought along\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has LD_LIBRARY_PATH")
def test_programs_of_the_system_get_their_own_libraries(tmp_path):
    (tmp_path / "workbench" / "site-packages").mkdir(parents=True)
    shown = tmp_path / "workbench" / "site-packages" / "shown.py"
    shown.write_text("import os\nprint(os.environ.get('LD_LIBRARY_PATH'))", "utf-8")
    inside = {"LD_LIBRARY_PATH": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    assert printed("/opt/workbench", "-m", "shown", LD_LIBRARY_PATH_ORIG="/before", **inside) == "/before\n"
    shown.write_text("import os\nprint(os.environ['PYINSTALLER_RESET_ENVIRONMENT'])", "utf-8")
    assert printed("/opt/workbench", "-m", "shown", **inside) == "1\n", "a process of the bundle has its own again"


def test_a_bundle_puts_itself_into_the_menu(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "workbench"))
    monkeypatch.delenv("APPIMAGE", raising=False)
    assert desktop.program() == [str(tmp_path / "workbench-gui")]
    monkeypatch.setenv("APPIMAGE", str(tmp_path / "Workbench.AppImage"))
    assert desktop.program() == [str(tmp_path / "Workbench.AppImage")]


def folder_of_programs(folder):
    """A bundle whose programs only print what they were called with."""
    folder.mkdir()
    for name in ("workbench", "workbench-gui"):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho {name} "$@"\n', "utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.skipif(not shutil.which("mksquashfs"), reason="mksquashfs is not installed")
def test_an_appimage_is_the_runtime_and_a_squashfs(bundle, tmp_path):
    runtime = tmp_path / "runtime"
    runtime.write_bytes(b"\x7fELF")
    image = bundle.make_appimage(folder_of_programs(tmp_path / "Workbench"), tmp_path, runtime)
    assert image.read_bytes().startswith(b"\x7fELFhsqs")
    assert os.access(image, os.X_OK)


@pytest.mark.skipif(not shutil.which("mksquashfs"), reason="mksquashfs is not installed")
def test_an_appimage_packs_all_but_what_a_start_reads(bundle, tmp_path):
    (tmp_path / "runtime").touch()
    folder = folder_of_programs(tmp_path / "Workbench")
    for number, path in enumerate(("PySide6/Qt/lib/libQt6Gui.so.6", "libz.so.1", "torch/lib/libtorch.so"), 1):
        (folder / "_internal" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "_internal" / path).write_bytes(bytes([number]) * 300_000)
    content = bundle.make_appimage(folder, tmp_path, tmp_path / "runtime").read_bytes()
    assert [bytes([number]) * 300_000 in content for number in (1, 2, 3)] == [True, True, False]


def test_a_runtime_of_another_hash_and_what_is_none_are_refused(bundle, tmp_path):
    runtime = tmp_path / "runtime"
    content = b"\x7fELF\x02\x01\x01\x00AI\x02 and the rest"
    runtime.write_bytes(content)
    stated = hashlib.sha256(content).hexdigest()
    bundle.check_runtime(runtime, stated)
    with pytest.raises(SystemExit, match=f"is {stated}, and 0123 was expected"):
        bundle.check_runtime(runtime, "0123")
    with pytest.raises(SystemExit, match=f"is {stated}, and .* was expected"):
        bundle.main(["appimage", "--keep", "--runtime", str(runtime)])
    runtime.write_bytes(content.replace(b"AI", b"  "))
    with pytest.raises(SystemExit, match="is not the runtime of an AppImage"):
        bundle.check_runtime(runtime, hashlib.sha256(runtime.read_bytes()).hexdigest())


def test_the_workflow_takes_the_release_whose_hash_is_known(bundle):
    workflow = (PACKAGING.parent / ".github" / "workflows" / "bundle.yml").read_text("utf-8")
    assert f"gh release download {sys.modules['contents'].RUNTIME} --repo AppImage/type2-runtime" in workflow


@pytest.mark.skipif(os.name != "posix", reason="an AppImage is for Linux")
def test_an_appdir_starts_the_window_with_a_config_and_else_the_command_line(bundle, tmp_path):
    appdir = bundle.make_appdir(folder_of_programs(tmp_path / "Workbench"), tmp_path)

    def said(*words):
        return subprocess.run([appdir / "AppRun", *words], capture_output=True, text=True, check=True).stdout.split()

    assert said() == ["workbench-gui"]
    assert said("/a/mine.workbench.toml") == ["workbench-gui", "/a/mine.workbench.toml"]
    assert said("run", "mine.toml") == ["workbench", "run", "mine.toml"]
    entry = (appdir / "metric-workbench.desktop").read_text("utf-8")
    assert "Exec=AppRun %f\n" in entry
    assert "{" not in entry
    assert (appdir / ".DirIcon").is_file()


def test_what_the_definition_names_is_there(bundle):
    contents = sys.modules["contents"]
    assert contents.ICON.is_file()
    assert contents.START.is_file()
    assert workbench.__version__ == contents.VERSION
    assert [name for name in contents.QT_MODULES if find_spec(name) is None] == []
    compile((PACKAGING / "workbench.spec").read_text("utf-8"), "workbench.spec", "exec")


@pytest.mark.slow
def test_a_bundle_carries_what_workbench_asks_for_and_no_tool(bundle):
    contents = sys.modules["contents"]
    carried = contents.packages()
    assert {"torch", "pyside6-essentials", "typst"} <= set(carried)
    assert {other for asked in carried.values() for other in asked} <= set(carried), "the bill of materials names them"
    inside = {path for _, path in contents.package_files()}
    assert {"torch/__init__.py", "workbench/app.py", "workbench/resources/catalog.json"} <= inside
    assert {"torch", "numpy", "workbench"} <= contents.carried_names()
    assert not {"pytest", "mypy", "triton", "PySide6"} & contents.carried_names()
    assert [path for path in inside if path.startswith(("/", "..")) or path.endswith(".h")] == []
    assert any(path.startswith("pyside6_essentials-") and path.endswith("metadata") for path in map(str.lower, inside))


def test_what_is_not_compiled_is_compiled(bundle, tmp_path):
    for name in ("first.py", "second.py", "broken.py"):
        (tmp_path / name).write_text("def" if name == "broken.py" else "print('ran')", "utf-8")
    tag = sys.implementation.cache_tag
    cached = f"package/__pycache__/second.{tag}.pyc"
    files = [(tmp_path / name, f"package/{name}") for name in ("first.py", "second.py", "broken.py")]
    files.append((tmp_path / "any.pyc", cached))
    added = sys.modules["contents"].with_compiled(files, tmp_path / "into")[len(files) :]
    ((path, inside),) = added
    assert inside == f"package/__pycache__/first.{tag}.pyc"
    assert subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout == "ran\n"


def test_the_picture_for_icons_is_drawn(bundle, qapp, tmp_path):
    bundle.draw_icon(tmp_path / "icon.png")
    assert (tmp_path / "icon.png").read_bytes().startswith(b"\x89PNG")
