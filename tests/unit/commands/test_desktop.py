"""The menu entry, icon and file association, written into a data folder of the test's own."""

import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.commands.machine import desktop

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="for Linux desktops")


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def call(*words):
    ended = CliRunner().invoke(cli, ["install-desktop", *words])
    assert ended.exit_code == 0, ended.output
    return ended.output


def entry_of(path):
    parser = ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(path, "utf-8")
    return parser["Desktop Entry"]


def test_what_is_installed_is_told_and_can_be_taken_away(data):
    said = call()
    for place in (desktop.MENU, desktop.TYPE, desktop.ICON):
        assert f"Wrote {data / place}" in said
        assert (data / place).is_file()
    call()
    assert "Removed" in call("--remove")
    assert not any((data / place).exists() for place in (desktop.MENU, desktop.TYPE, desktop.ICON))
    assert call("--remove") == "There is nothing to remove.\n"


def test_the_entry_starts_this_program_with_the_file(data):
    call()
    entry = entry_of(data / desktop.MENU)
    words = shlex.split(entry["Exec"])
    assert words[-1] == "%f"
    assert words[:-1] == desktop.program()
    ended = subprocess.run([*words[:-1], "--help"], capture_output=True, text=True, check=False)
    assert "Open the window" in ended.stdout, ended.stderr
    assert entry["Icon"] == "metric-workbench"
    assert ElementTree.parse(data / desktop.ICON).getroot().tag.endswith("svg")


def test_a_program_with_reserved_characters_in_its_path_is_quoted(data):
    (menu, *_) = desktop.put(data, ['/opt/my "app" 100%/$x`y\\z', "-m", "it"])
    value = entry_of(menu)["Exec"].replace("\\\\", "\\")  # what the file's own rule says of a backslash
    shown = subprocess.run(["sh", "-c", f"printf '%s\\n' {value}"], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == ['/opt/my "app" 100%%/$x`y\\z', "-m", "it", "%f"]  # quotes are a shell's


@pytest.mark.skipif(not (shutil.which("gio") and shutil.which("update-mime-database")), reason="no desktop tools")
def test_a_config_has_its_type_and_other_toml_files_keep_theirs(data, tmp_path):
    call()
    types = {}
    for name in ("run.workbench.toml", "pyproject.toml"):
        (tmp_path / name).write_text('name = "run"\n', "utf-8")
        asked = ["gio", "info", "-a", "standard::content-type", str(tmp_path / name)]
        types[name] = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert "application/x-metric-workbench" in types["run.workbench.toml"]
    assert "x-metric-workbench" not in types["pyproject.toml"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    ended = CliRunner().invoke(cli, ["install-desktop"])
    assert ended.exit_code == 1
    assert "Traceback" not in ended.output
