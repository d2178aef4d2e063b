"""The first command a stranger types: what it decides, and the sentence for each thing that can go wrong."""

import ast
import importlib.util
import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.waits import HANG
from workbench.places.kinds import checks

FILE = Path(__file__).resolve().parents[2] / "packaging" / "bootstrap.py"


def load():
    spec = importlib.util.spec_from_file_location("bootstrap", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bootstrap = load()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with the two files that name the versions, on a disk with room for what they need."""
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda folder: SimpleNamespace(free=10**12))
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "constraints.txt").write_text("numpy==2.4.6\n")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy"]\n[project.optional-dependencies]\ntest = ["pytest"]\n'
    )
    return tmp_path


@pytest.fixture
def installed(checkout):
    """The same folder with an environment that is whole for `test`."""
    environment = bootstrap.Environment(checkout)
    environment.packages.mkdir(parents=True)
    environment.python.parent.mkdir(parents=True)
    environment.python.symlink_to(sys.executable)
    environment.write_stamp(["test"])
    return environment


def sentences(text):
    assert text.endswith(".")
    assert "\n" not in text
    return text


# what has to be done


def test_nothing_is_done_when_all_is_there(installed):
    assert installed.lacks([]) == "nothing"
    assert installed.lacks(["test"]) == "nothing"


def test_all_is_made_when_nothing_is_there(checkout):
    assert bootstrap.Environment(checkout).lacks([]) == "make"


def test_an_interrupted_install_is_made_again(installed):
    installed.stamp.unlink()  # it is written last
    assert installed.lacks([]) == "make"


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"maker": 3}'])
def test_a_damaged_stamp_counts_as_none(installed, damage):
    installed.stamp.write_text(damage)
    assert installed.lacks([]) == "make"


@pytest.mark.parametrize("changed", ["pyproject.toml", "packaging/constraints.txt"])
def test_changed_versions_are_installed(installed, changed):
    with (installed.root / changed).open("a") as file:
        file.write("# later\n")
    assert installed.lacks([]) == "install"


@pytest.mark.parametrize(
    ("cores", "gigabytes", "processes"), [(2, 24, 3), (2, 8, 2), (1, 24, 2), (2, None, 2), (3, 24, 4), (16, 64, 4)]
)
def test_the_tests_have_a_process_more_than_cores_where_there_is_memory_for_it(
    monkeypatch, cores, gigabytes, processes
):
    def said(name):
        if gigabytes is None:  # as where a system does not say it
            raise ValueError("unrecognized configuration name")
        return {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": (gigabytes << 30) // 4096}[name]

    monkeypatch.setattr(bootstrap.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(bootstrap.os, "sysconf", said, raising=False)
    assert bootstrap.test_processes() == processes


def test_the_tests_need_more_than_the_program(installed):
    installed.write_stamp([])
    assert installed.lacks([]) == "nothing"
    assert installed.lacks(["test"]) == "install"


def test_a_moved_folder_is_made_again(installed, tmp_path):
    moved = tmp_path / "moved"
    installed.folder.rename(tmp_path / "kept")
    moved.mkdir()
    (tmp_path / "kept").rename(moved / ".venv")
    for name in ("packaging", "pyproject.toml"):
        (tmp_path / name).rename(moved / name)
    assert bootstrap.Environment(moved).lacks([]) == "make"


def test_a_python_that_is_gone_is_noticed(installed):
    installed.python.unlink()
    installed.python.symlink_to(installed.root / "gone")
    assert installed.lacks([]) == "make"


def test_another_python_is_noticed(installed):
    stamp = json.loads(installed.stamp.read_text())
    stamp["maker"][0] = "CPython 3.99"
    installed.stamp.write_text(json.dumps(stamp))
    assert installed.lacks([]) == "make"


def test_pip_gets_the_lines_of_pyproject(checkout):
    assert bootstrap.requirements(checkout, []) == ["numpy"]
    assert bootstrap.requirements(checkout, ["test"]) == ["numpy", "pytest"]


def test_a_second_call_starts_neither_pip_nor_venv(installed, monkeypatch):
    monkeypatch.setattr(bootstrap, "check_system", lambda qt, new: None)
    monkeypatch.setattr(bootstrap.subprocess, "run", lambda *args, **kwargs: pytest.fail("a process was started"))
    monkeypatch.setattr(bootstrap.subprocess, "Popen", lambda *args, **kwargs: pytest.fail("a process was started"))
    bootstrap.prepare(installed, ["test"], qt=True)


# the steps of an install, with a pip that is a script


def fake_pip(environment, monkeypatch, lines, status):
    """The environment is made at once, and "pip" prints `lines` and ends with `status`."""

    def make(environment):
        environment.packages.mkdir(parents=True, exist_ok=True)
        environment.python.parent.mkdir(parents=True, exist_ok=True)
        environment.python.write_text("#!/bin/sh\ncat <<'EOF'\n" + lines + f"\nEOF\nexit {status}\n")
        environment.python.chmod(0o755)

    monkeypatch.setattr(bootstrap, "make", make)
    monkeypatch.setattr(bootstrap, "check_system", lambda qt, new: None)
    monkeypatch.setattr(bootstrap, "write_catalog", lambda environment: None)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for pip is a shell script")
def test_an_install_ends_with_its_stamp_and_the_path_to_the_checkout(checkout, monkeypatch, capsys):
    environment = bootstrap.Environment(checkout)
    fetched = "  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl (539.1 MB)"
    fake_pip(environment, monkeypatch, fetched, 0)
    bootstrap.prepare(environment, ["test"], qt=False)
    assert environment.lacks(["test"]) == "nothing"
    pth = (environment.packages / "workbench-checkout.pth").read_text().strip()
    assert (environment.packages / pth).resolve() == checkout.resolve()
    assert "torch 2.15.0 (539.1 MB)" in capsys.readouterr().out
    assert environment.log.read_text() == fetched + "\n"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for pip is a shell script")
def test_torch_s_downloads_are_gone_before_the_rest_is_fetched(checkout, monkeypatch):
    (checkout / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.11", "torchvision", "numpy"]\n')
    environment = bootstrap.Environment(checkout)
    fake_pip(environment, monkeypatch, "", 0)
    bootstrap.make(environment)
    environment.python.write_text(
        '#!/bin/sh\necho "$(ls "$TMPDIR" | wc -l) of another step, $*"\ntouch "$TMPDIR/fetched"\n'
    )
    monkeypatch.setattr(bootstrap, "make", lambda environment: None)
    bootstrap.prepare(environment, [], qt=False)
    calls = environment.log.read_text().splitlines()
    assert all(call.split()[0] == "0" for call in calls)
    assert [call.partition("constraints.txt ")[2].removeprefix("--no-cache-dir ") for call in calls] == [
        "--no-deps torch>=2.11",
        "torch>=2.11",
        "torch>=2.11 torchvision numpy",
    ]
    assert not (environment.folder / "downloads").exists()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for pip is a shell script")
def test_a_failed_install_says_why_and_leaves_no_stamp(checkout, monkeypatch):
    environment = bootstrap.Environment(checkout)
    fake_pip(environment, monkeypatch, "ERROR: [Errno 28] No space left on device", 1)
    with pytest.raises(bootstrap.Trouble, match=r"disk became full.*install\.log"):
        bootstrap.prepare(environment, [], qt=False)
    assert environment.lacks([]) == "make"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for pip is a shell script")
def test_a_failed_update_is_made_again_from_nothing(installed, monkeypatch):
    installed.python.unlink()
    fake_pip(installed, monkeypatch, "ERROR: of another kind", 1)
    bootstrap.make(installed)
    with (installed.root / "pyproject.toml").open("a") as file:
        file.write("# later\n")
    assert installed.lacks([]) == "install"
    with pytest.raises(bootstrap.Trouble, match="of another kind"):
        bootstrap.prepare(installed, [], qt=False)
    assert installed.lacks([]) == "make"


@pytest.mark.skipif(sys.platform == "win32", reason="no such lock on Windows")
@pytest.mark.parametrize("there", ["environment", "photographs", "nothing"])
def test_what_a_linked_venv_points_to_is_never_emptied(checkout, tmp_path_factory, there):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / ".venv"
    if there == "environment":  # of another checkout
        other = bootstrap.Environment(elsewhere.parent)
        other.packages.mkdir(parents=True)
        other.stamp.write_text(json.dumps({"maker": [*bootstrap.Environment(checkout).maker()[:3], str(other.root)]}))
    elif there == "photographs":
        elsewhere.mkdir()
        (elsewhere / "kept.png").write_bytes(b"")
    kept = sorted(elsewhere.rglob("*"))
    (checkout / ".venv").symlink_to(elsewhere)
    with pytest.raises(bootstrap.Trouble) as refused:
        bootstrap.make(bootstrap.Environment(checkout))
    assert f"is a link to {elsewhere}" in sentences(str(refused.value))
    assert sorted(elsewhere.rglob("*")) == kept
    assert (checkout / ".venv").is_symlink()


def test_an_empty_folder_on_another_disk_may_hold_the_environment(checkout, tmp_path_factory, monkeypatch):
    (checkout / ".venv").symlink_to(tmp_path_factory.mktemp("large"))
    monkeypatch.setattr(bootstrap.sys, "executable", "true")
    bootstrap.make(bootstrap.Environment(checkout))
    assert (checkout / ".venv").is_symlink()


def test_two_installs_wait_for_each_other(checkout):
    code = f"import runpy; b = runpy.run_path({str(FILE)!r}); r = b['Path']({str(checkout)!r})\n"
    code += "with b['alone'](r): print('in')"
    with bootstrap.alone(checkout):
        other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert "waiting for it" in other.stdout.readline()
    assert other.communicate(timeout=HANG)[0] == "in\n"


# sentences


@pytest.mark.parametrize("version", [(3, 8, 18), (3, 15, 0)])
def test_another_python_gets_a_sentence_and_can_read_the_file(version, monkeypatch):
    ast.parse(FILE.read_text("utf-8"), feature_version=(3, 6))
    before = compile(FILE.read_text("utf-8").partition("import tomllib")[0], "bootstrap", "exec")
    monkeypatch.setattr(sys, "version_info", version)
    said = rf"needs Python 3\.11 to 3\.14; this is Python 3\.{version[1]}"
    with pytest.raises(SystemExit, match=said):
        exec(before, {"__file__": str(FILE), "__name__": "other"})


@pytest.mark.parametrize(
    ("windows", "there", "said"),
    [
        (False, {"python3.12", "python3.13"}, "Python 3.13 is on this machine. Call `python3.13 "),
        (False, set(), "Install one of these. Call `python3.14 "),
        (True, set(), "`py --list` names those of this machine. Call `py -3.14 "),
    ],
)
def test_a_python_that_can_be_used_is_named(windows, there, said):
    sentence = bootstrap.sentence_for_other_python((3, 15, 0), windows, lambda name: name if name in there else None)
    assert said in sentences(sentence)


@pytest.mark.parametrize(
    ("system", "machine", "release", "bits", "said"),
    [
        ("Linux", "x86_64", "2.34", 64, ""),
        ("Linux", "aarch64", "2.39", 64, ""),
        ("Darwin", "arm64", "14.6.1", 64, ""),
        ("Darwin", "arm64", "", 64, ""),
        ("Windows", "AMD64", "", 64, ""),
        ("Linux", "x86_64", "2.31", 64, "glibc 2.34 or newer (Ubuntu 22.04, Debian 12, RHEL 9); this is 2.31."),
        ("Linux", "aarch64", "2.36", 64, "glibc 2.39 or newer"),
        ("Linux", "x86_64", "", 64, "a Linux without glibc"),
        ("Linux", "riscv64", "2.39", 64, "no packages for riscv64 processors"),
        ("Linux", "x86_64", "2.39", 32, "This Python has 32 bits"),
        ("Darwin", "x86_64", "14.6", 64, "Intel processors of Macs"),
        ("Darwin", "arm64", "13.7", 64, "macOS 14 or newer; this is 13.7."),
        ("Windows", "ARM64", "", 64, "an x64 Python"),
    ],
)
def test_a_machine_without_packages_gets_a_sentence_before_anything_is_fetched(system, machine, release, bits, said):
    sentence = bootstrap.sentence_for_machine(system, machine, release, bits)
    assert said in sentences(sentence) if said else sentence == ""


def test_a_machine_without_packages_is_refused_before_its_system_is_changed(checkout, monkeypatch):
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(bootstrap.platform, "system", lambda: "Linux")
    monkeypatch.setattr(bootstrap, "check_system", lambda qt, new: pytest.fail("the system was changed"))
    with pytest.raises(bootstrap.Trouble, match=r"riscv64 .* Nothing was installed\.$"):
        bootstrap.prepare(bootstrap.Environment(checkout), ["test"], qt=False)


def test_package_and_places_ask_for_the_same_pythons():
    assert (checks.OLDEST_PYTHON, checks.NEWEST_PYTHON) == (bootstrap.OLDEST, bootstrap.NEWEST)
    newest = bootstrap.NEWEST[1] + 1
    required = tomllib.loads((bootstrap.ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert required == f">=3.{bootstrap.OLDEST[1]},<3.{newest}"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk became full"),
        ("OSError: [WinError 112] There is not enough space on the disk", "disk became full"),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError: Failed to establish a "
            "new connection: [Errno -3] Temporary failure in name resolution'\n"
            "ERROR: No matching distribution found for torch>=2.10",
            "no connection",
        ),
        ("urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out.", "no connection"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "certificate"),
        ("ERROR: No matching distribution found for torch>=2.10", "no build of torch>=2.10 for Python"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 2] No such file or directory: 'C:\\\\a'\n"
            "HINT: This error might have occurred since this system does not have Windows Long Path support enabled.",
            "path of over 260 letters",
        ),
        ("ERROR: Something else.", "could not be installed: Something else"),
        ("", "could not be installed"),
    ],
)
def test_pip_s_failure_is_one_sentence(line, said):
    assert said in sentences(bootstrap.sentence_for_pip("Collecting torch\n" + line + "\n"))


def test_a_small_disk_is_refused_before_anything_is_fetched(tmp_path):
    bootstrap.check_space(tmp_path, free=10**12)
    with pytest.raises(bootstrap.Trouble, match=r"has 1\.5 GB free and the installation takes about \d+ GB"):
        bootstrap.check_space(tmp_path, free=1.5e9)


def test_a_disk_without_room_for_a_second_copy_gets_no_cache(tmp_path):
    assert bootstrap.cache_choice(tmp_path, free=10**12) == []
    assert bootstrap.cache_choice(tmp_path, free=bootstrap.space_needed() + 10**9) == ["--no-cache-dir"]


MISSING = [("libEGL.so.1", "libegl1"), ("libxcb-cursor.so.0", "libxcb-cursor0")]


@pytest.mark.parametrize(
    ("installer", "command"),
    [
        ("apt-get", "apt-get install -y --no-install-recommends libegl1 libxcb-cursor0"),
        ("dnf", "dnf install -y 'libEGL.so.1()(64bit)' 'libxcb-cursor.so.0()(64bit)'"),
        ("zypper", "zypper install -y 'libEGL.so.1()(64bit)' 'libxcb-cursor.so.0()(64bit)'"),
        ("pacman", ""),
    ],
)
def test_missing_libraries_are_named_with_the_command(installer, command):
    found = bootstrap.command_for(MISSING, which=lambda name: name if name == installer else None)
    assert found == command
    said = bootstrap.sentence_for_libraries(MISSING, found)
    assert "libEGL.so.1, libxcb-cursor.so.0" in said
    assert f"sudo {command}" in said or not command


@pytest.mark.skipif(sys.platform != "linux", reason="Qt brings its libraries elsewhere")
@pytest.mark.parametrize("user", [0, 1000])
def test_root_on_debian_gets_the_libraries_and_others_the_command(monkeypatch, user):
    lacking, asked = [MISSING, []], []
    monkeypatch.setattr(bootstrap, "missing_parts", lambda qt, new: lacking.pop(0))
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: name)
    monkeypatch.setattr(bootstrap, "command_for", lambda missing: "apt-get install -y libegl1")
    monkeypatch.setattr(bootstrap, "install_with_apt", asked.append)
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: user)
    if user:
        with pytest.raises(bootstrap.Trouble, match="sudo apt-get install -y libegl1"):
            bootstrap.check_system(qt=True, new=False)
        assert asked == []
    else:
        bootstrap.check_system(qt=True, new=False)
        assert asked == ["apt-get install -y libegl1"]


def test_a_library_that_is_not_there_is_missed():
    assert bootstrap.is_missing("libworkbench-is-not-there.so.1")


def test_a_fresh_container_fetches_the_package_lists_once(monkeypatch):
    calls = []

    def run(command, **options):
        calls.append(" ".join(command))
        first = calls.count("apt-get install -y libegl1") < 2
        return subprocess.CompletedProcess(
            command, 100 if first and "install" in command else 0, b"E: no such package\n"
        )

    monkeypatch.setattr(bootstrap.subprocess, "run", run)
    bootstrap.install_with_apt("apt-get install -y libegl1")
    assert calls == ["apt-get install -y libegl1", "apt-get update", "apt-get install -y libegl1"]


# the two commands


@pytest.mark.parametrize(
    ("system", "variables", "display"),
    [
        ("Linux", {}, False),
        ("Linux", {"DISPLAY": ""}, False),
        ("Linux", {"DISPLAY": ":0"}, True),
        ("Linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("Darwin", {}, True),
        ("Windows", {}, True),
    ],
)
def test_where_there_is_a_display(system, variables, display):
    assert bootstrap.has_display(system, variables) is display


def test_what_is_started():
    assert bootstrap.program([], display=True) == ["-m", "workbench"]
    assert bootstrap.program([], display=False) == ["-m", "workbench", "sample"]
    assert bootstrap.program(["list", "losses"], display=False) == ["-m", "workbench", "list", "losses"]


def test_only_the_window_needs_the_libraries_of_qt():
    assert bootstrap.opens_window([], display=True)
    assert bootstrap.opens_window(["--workspace=runs"], display=True)
    assert not bootstrap.opens_window([], display=False)
    assert not bootstrap.opens_window(["list", "runs"], display=True)


def test_arguments_and_exit_status_are_passed_on(monkeypatch, capsys):
    started = []
    monkeypatch.setattr(bootstrap, "prepare", lambda environment, extras, qt: None)
    monkeypatch.setattr(bootstrap, "hand_over", lambda environment, rest, variables: started.append(rest) or 7)
    monkeypatch.setattr(bootstrap, "has_display", lambda system, variables: False)
    monkeypatch.chdir(FILE.parent)
    assert bootstrap.main(["run", "--", "list", "losses"]) == 7
    assert bootstrap.main(["test", "--", "-k", "anatomy"]) == 7
    assert started == [["-m", "workbench", "list", "losses"], ["-m", "pytest", "-k", "anatomy"]]
    assert capsys.readouterr().out == ""
    assert bootstrap.main(["run"]) == 7
    assert sentences(capsys.readouterr().out.strip()).startswith("There is no display")


@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["rum"], 2), (["--help"], 0)])
def test_a_wrong_command_shows_the_two_right_ones(arguments, status, capsys):
    assert bootstrap.main(arguments) == status
    assert "bootstrap.py run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (bootstrap.Trouble("The disk is full."), 1, "The disk is full.\n"),
        (PermissionError(13, "Permission denied", "x/.venv"), 1, "x/.venv: Permission denied.\n"),
        (KeyboardInterrupt(), 130, "\nInterrupted: the next call goes on from here.\n"),
    ],
)
def test_trouble_is_one_sentence_and_no_traceback(monkeypatch, capsys, error, status, said):
    def fail(environment, extras, qt):
        raise error

    monkeypatch.setattr(bootstrap, "prepare", fail)
    assert bootstrap.main(["run"]) == status
    assert capsys.readouterr().err == said


def test_slow_tests_run_only_when_they_are_asked_for(monkeypatch):
    calls = []
    monkeypatch.setattr(bootstrap, "prepare", lambda *_, **__: None)
    monkeypatch.setattr(bootstrap, "hand_over", lambda _environment, arguments, _variables: calls.append(arguments))
    bootstrap.test([])
    bootstrap.test(["-m", "slow"])
    assert calls[0][:4] == ["-m", "pytest", "-m", "not slow"]
    assert calls[1] == ["-m", "pytest", "-m", "slow"]


def test_a_folder_with_letters_that_a_file_of_windows_cannot_have_is_named_with_their_numbers(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1252"))
    monkeypatch.setattr(bootstrap, "run", lambda arguments: bootstrap.say("Installing into é, 猫."))
    bootstrap.main(["run"])
    assert written.getvalue().decode("cp1252").strip() == r"Installing into é, \u732b."
