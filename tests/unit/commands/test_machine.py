"""What the doctor says of driver, libraries and display; each problem with what to type."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.commands.machine import checks
from workbench.commands.machine import findings as machine
from workbench.commands.machine.findings import Cuda, debian_package, judge_display, judge_driver, judge_libraries

GOOD = Cuda(gpu=True, status=0, driver=(12, 4), built=(12, 6), compute=(8, 6), kernels=("sm_80", "sm_90"))


def changed(**fields):
    return Cuda(**{**{name: getattr(GOOD, name) for name in Cuda.__dataclass_fields__}, **fields})


def test_a_driver_of_the_same_major_number_is_well():
    (finding,) = judge_driver(GOOD)
    assert finding.good
    assert "12.4" in finding.said


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (Cuda(gpu=True, status=None), "no driver"),
        (changed(status=803), "sudo reboot"),
        (changed(status=999), "nvidia-smi"),
        (changed(built=None), "python -m pip install"),
        (changed(built=(13, 0)), "needs 13.0"),
        (changed(compute=None), "CUDA_VISIBLE_DEVICES"),
        (changed(compute=(6, 1)), "compute capability 6.1"),
        (changed(compute=(10, 0)), "compute capability 10.0"),
    ],
)
def test_what_does_not_go_together_is_told_with_a_command(facts, words):
    (finding,) = judge_driver(facts)
    assert not finding.good
    assert words in finding.said


def test_code_that_is_compiled_for_newer_gpus_will_do():
    (finding,) = judge_driver(changed(compute=(12, 0), kernels=("sm_90", "compute_90")))
    assert finding.good


@pytest.mark.parametrize("facts", [Cuda(gpu=False, status=None), Cuda(gpu=False, status=100, built=(12, 6))])
def test_a_machine_without_a_gpu_is_no_problem(facts):
    assert judge_driver(facts) == []


@pytest.mark.parametrize(
    ("variables", "words", "plugin"),
    [
        ({}, "none", ""),
        ({"DISPLAY": ":0"}, "X11 (:0)", "xcb"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "Wayland (wayland-0)", "wayland"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "QT_QPA_PLATFORM=xcb workbench", "wayland"),
        ({"QT_QPA_PLATFORM": "xcb;wayland", "WAYLAND_DISPLAY": "wayland-0"}, "Qt uses xcb", "xcb"),
    ],
)
def test_the_display_is_told(variables, words, plugin):
    (finding,), chosen = judge_display(variables)
    assert words in finding.said
    assert chosen == plugin


@pytest.mark.parametrize(
    ("soname", "package"),
    [
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libEGL.so.1", "libegl1"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libdbus-1.so.3", "libdbus-1-3"),
        ("libgthread-2.0.so.0", "libglib2.0-0"),
    ],
)
def test_debians_packages_of_libraries(soname, package):
    assert debian_package(soname) == package


@pytest.mark.parametrize(
    ("distribution", "command"),
    [
        ("ubuntu debian", "`sudo apt-get install libgl1 libxcb-cursor0`"),
        ("fedora ", "`sudo dnf install 'libGL.so.1()(64bit)' 'libxcb-cursor.so.0()(64bit)'`"),
        ("opensuse-leap suse", "sudo zypper install"),
        ("arch ", "pacman -F libGL.so.1"),
        ("", "Install them with the system's packages"),
    ],
)
def test_missing_libraries_come_with_the_command(distribution, command):
    finding = judge_libraries(["libGL.so.1", "libxcb-cursor.so.0"], distribution)
    assert not finding.good
    assert command in finding.said


@pytest.mark.skipif(not machine.sys.platform.startswith("linux"), reason="Linux only")
def test_a_library_that_the_loader_lacks_is_named(monkeypatch):
    """The loader of this machine, and one that knows no xcb cursor."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    load = machine.ctypes.CDLL

    def lacking(name):
        if name.endswith(("libqxcb.so", "libxcb-cursor.so.0")):
            raise OSError("libxcb-cursor.so.0: cannot open shared object file: No such file or directory")
        return load(name)

    monkeypatch.setattr(machine.ctypes, "CDLL", lacking)
    *_, finding = machine.display_findings()
    assert not finding.good
    assert "libxcb-cursor.so.0" in finding.said


def test_a_torchvision_of_another_build_is_told_and_no_plug_in_is_loaded_with_it(monkeypatch):
    assert checks.torchvision_findings() == []

    def refuse(name):
        raise RuntimeError("operator torchvision::nms does not exist\nand more")

    monkeypatch.setattr(checks, "import_module", refuse)
    monkeypatch.setattr(checks, "plugin_findings", lambda: pytest.fail("entries need torchvision"))
    (told,) = (finding for finding in checks.look() if finding.what == "torchvision" and not finding.good)
    assert "(RuntimeError: operator torchvision::nms does not exist). Take both for the same device" in told.said
    assert "pip install --force-reinstall torch torchvision" in told.said


def test_the_doctor_knows_the_oldest_versions_of_pyproject():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    bounds = dict(re.match(r"([\w-]+)>=([\d.]+)", line).groups() for line in project["dependencies"])
    assert {name: bounds.get(name) for name in checks.PACKAGES} == checks.PACKAGES


@pytest.mark.parametrize(
    ("number", "good"),
    [("2.9.1", False), ("2.9.1+cu126", False), ("2.10.0+cpu", True), ("2.10.0a0", True), ("3.0", True)],
)
def test_a_torch_that_is_too_old_is_a_problem(monkeypatch, number, good):
    installed = checks.version
    monkeypatch.setattr(checks, "version", lambda name: number if name == "torch" else installed(name))
    (torch,) = (finding for finding in checks.package_findings() if finding.what == "torch")
    assert torch.good is good
    oldest = checks.PACKAGES["torch"]
    said = f"{number}, and Workbench needs {oldest} or newer. Repeat the installation (page Install)."
    assert torch.said == (number if good else said)


@pytest.mark.parametrize(("python", "good"), [((3, 10), False), ((3, 11), True), ((3, 14), True), ((3, 15), False)])
def test_a_python_for_which_nothing_was_made_is_a_problem(monkeypatch, python, good):
    monkeypatch.setattr(sys, "version_info", (*python, 2))
    finding = checks.python_finding()
    assert finding.good is good
    assert ("needs 3.11 to 3.14" in finding.said) is not good


def test_findings_as_json_are_those_of_the_lines_with_the_same_status(monkeypatch):
    findings = [machine.Finding("Python", "3.14"), machine.Finding("torch", "is not installed.", good=False)]
    monkeypatch.setattr(checks, "look", lambda folder: findings)
    every = CliRunner().invoke(cli, ["doctor", "--json"])
    assert json.loads(every.stdout) == [
        {"what": "Python", "said": "3.14", "good": True},
        {"what": "torch", "said": "is not installed.", "good": False},
    ]
    assert every.exit_code == CliRunner().invoke(cli, ["doctor"]).exit_code == 1
    assert len(json.loads(CliRunner().invoke(cli, ["doctor", "--json", "--quiet"]).stdout)) == 1
    monkeypatch.setattr(checks, "look", lambda folder: findings[:1])
    assert CliRunner().invoke(cli, ["doctor", "--json"]).exit_code == 0


@pytest.mark.parametrize("change", ["--repair", "--go-back"])
def test_what_changes_a_workspace_has_no_json(change):
    assert CliRunner().invoke(cli, ["doctor", "--json", change]).exit_code == 2
