"""Rules 1, 2, 4 and 7 of docs/architecture.md, read off the source; each is first shown to find a planted breach."""

import re
import subprocess
from collections import Counter

import pytest
import source_rules as rules
from source_rules import ROOT, Source

PACKAGE = rules.read_package(ROOT / "workbench")
MOST_FILES, MOST_OF_A_PAGE = 16, 12  # in a room, and beside the rooms, so that the list is read at a glance
RULES = (
    rules.qt_outside_window,
    rules.heavy_in_window,
    rules.sqlite_outside_workspace,
    rules.wrong_rooms,
    rules.wrong_folders_of_the_window,
    rules.pages_that_know_each_other,
    rules.wrong_rooms_of_a_folder,
    rules.starts_work,
    rules.sql_outside,
    rules.unsafe_loading,
    rules.unnamed_encoding,
    rules.too_long,
    rules.banned_name,
    rules.private_signals,
    rules.vague_names,
    rules.inverted_ownership,
)

PLANTED = [
    (rules.qt_outside_window, "workbench.training.trainer", "from PySide6.QtCore import QObject"),
    (rules.qt_outside_window, "workbench.jobs", "def late():\n    import pyqtgraph as pg"),
    (rules.qt_outside_window, "workbench.application", "import qtawesome"),
    (rules.heavy_in_window, "workbench.ui.pages.map", "def late():\n    from sklearn.decomposition import PCA"),
    (rules.heavy_in_window, "workbench.ui.state.live", "import importlib\nimportlib.import_module('torch')"),
    (rules.sqlite_outside_workspace, "workbench.training.trainer", "import sqlite3"),
    (rules.sqlite_outside_workspace, "workbench.comparing.measures", "from sqlite_utils import Database"),
    (rules.wrong_rooms, "workbench.losses.anatomy", "from workbench.evaluation import retrieval"),
    (rules.wrong_rooms, "workbench.datasets.own.folder", "import workbench.losses.ce"),
    (rules.wrong_rooms, "workbench.evaluation.retrieval", "from workbench import datasets"),
    (rules.wrong_rooms, "workbench.training.trainer", "from workbench.workspace import Workspace"),
    (rules.wrong_rooms, "workbench.results.stored", "from workbench.reports import content"),
    (rules.sqlite_outside_workspace, "workbench.results.stored", "import sqlite3"),
    (rules.wrong_rooms, "workbench.registry", "from workbench.losses import ce"),
    (rules.wrong_rooms, "workbench.entries.catalog", "from workbench.workspace import Workspace"),
    (rules.wrong_rooms, "workbench.files.archives", "from workbench.datasets import scan"),
    (rules.wrong_rooms, "workbench.settings.changed", "from workbench.sweeps import space"),
    (rules.wrong_rooms, "workbench.running.engine", "from workbench.reports import content"),
    (rules.wrong_rooms, "workbench.cli", "from workbench.ui.window.main_window import MainWindow"),
    (rules.wrong_rooms, "workbench.running.launch", "from workbench.ui.state import session"),
    (rules.wrong_rooms, "workbench.ui.state.session", "from workbench.training import trainer"),
    (rules.wrong_rooms, "workbench.control", "from workbench.config import RunConfig"),
    (rules.wrong_rooms, "workbench.plugins", "from workbench import registry"),
    (rules.wrong_rooms, "workbench.commands.machine.doctor", "from workbench.cli import cli"),
    (rules.wrong_rooms, "workbench.workspace.rows", "import workbench"),
    (rules.wrong_rooms, "workbench", "from workbench.config import RunConfig"),
    (rules.wrong_rooms, "workbench.new_room", ""),
    (rules.wrong_rooms, "workbench.new_room.module", ""),
    (rules.wrong_folders_of_the_window, "workbench.ui.style.theme", "from workbench.ui.state import session"),
    (rules.wrong_folders_of_the_window, "workbench.ui.pages.map.page", "import workbench.ui.window.main_window"),
    (rules.wrong_folders_of_the_window, "workbench.ui.preferences", "from workbench.ui import style"),
    (rules.wrong_folders_of_the_window, "workbench.ui.new_folder.module", ""),
    (rules.pages_that_know_each_other, "workbench.ui.pages.map.page", "from workbench.ui.pages.train import curves"),
    (rules.pages_that_know_each_other, "workbench.ui.pages.map", "from workbench.ui.pages import report"),
    (rules.wrong_rooms_of_a_folder, "workbench.ui.pages.map.new_room.module", ""),
    (rules.wrong_rooms_of_a_folder, "workbench.ui.pages.report.model.choices", ""),
    (
        rules.wrong_rooms_of_a_folder,
        "workbench.ui.pages.map.model.chain",
        "from workbench.ui.pages.map.drawing import canvas",
    ),
    (rules.wrong_rooms_of_a_folder, "workbench.ui.pages.map.side.legend", "import workbench.ui.pages.map.page"),
    (rules.wrong_rooms_of_a_folder, "workbench.ui.pages.map.side.legend", "from workbench.ui.pages.map import MapPage"),
    (rules.wrong_rooms_of_a_folder, "workbench.reports.new_room.module", ""),
    (rules.wrong_rooms_of_a_folder, "workbench.datasets.split", "from workbench.datasets.own import folder"),
    (
        rules.wrong_rooms_of_a_folder,
        "workbench.datasets.cache.keeping",
        "from workbench.datasets.inspection import inspect",
    ),
    (rules.wrong_rooms_of_a_folder, "workbench.reports.sections", "from workbench.reports.templates import offered"),
    (rules.wrong_rooms_of_a_folder, "workbench.reports.document", "import workbench.reports"),
    (
        rules.wrong_rooms_of_a_folder,
        "workbench.ui.pages.retrieval.model.browsing",
        "def late():\n    from workbench.ui.pages.retrieval.triage.panel import TriagePanel",
    ),
    (rules.starts_work, "workbench.training.trainer", "import threading\nthreading.Thread(target=print).start()"),
    (rules.starts_work, "workbench.cli", "from threading import Thread"),
    (rules.starts_work, "workbench.commands.machine.doctor", "import subprocess"),
    (rules.starts_work, "workbench.ui.state.session", "from PySide6.QtCore import QThread"),
    (
        rules.starts_work,
        "workbench.ui.state.session",
        "from PySide6 import QtCore\nQtCore.QThreadPool.globalInstance()",
    ),
    (rules.starts_work, "workbench.evaluation.neighbours", "from concurrent.futures import ThreadPoolExecutor"),
    (rules.starts_work, "workbench.files.parts", "import os\nos.system('true')"),
    (rules.starts_work, "workbench.jobs", "DataLoader(data, num_workers=2)"),
    (
        rules.sql_outside,
        "workbench.reports.content.run_content",
        "db.execute('insert into runs (name) values (?)', (name,))",
    ),
    (rules.sql_outside, "workbench.ui.state.live", "db.execute(f'update {table} set name = 1')"),
    (rules.sql_outside, "workbench.cli", "db.execute('''\n  DELETE FROM runs\n  WHERE id = 3''')"),
    (rules.sql_outside, "workbench.ui.models.list", "ask = f'select id from runs where {where}'"),
    (rules.sql_outside, "workbench.comparing.pairs", "ASK = '''\nSELECT id,\n  name\nFROM runs'''"),
    (rules.sql_outside, "workbench.ui.state.live", "ask = 'pragma data_version'"),
    (rules.sql_outside, "workbench.reports.formats.tables", "rows = db.execute(QUESTION, (1,)).fetchall()"),
    (rules.unsafe_loading, "workbench.training.checkpoint", "torch.load(path)"),
    (rules.unsafe_loading, "workbench.training.checkpoint", "torch.load(path, weights_only=False)"),
    (rules.unsafe_loading, "workbench.workspace.packing", "np.load(path)"),
    (rules.unsafe_loading, "workbench.files", "import pickle"),
    (rules.unsafe_loading, "workbench.config", "eval(text)"),
    (rules.unnamed_encoding, "workbench.files", "Path('a').read_text()"),
    (rules.unnamed_encoding, "workbench.files", "(Path('a') / 'b').write_text('x')"),
    (rules.unnamed_encoding, "workbench.files", "with open('a') as file: ..."),
    (rules.unnamed_encoding, "workbench.files", "open('a', mode='a')"),
    (rules.unnamed_encoding, "workbench.files", "Path('a').open('w')"),
    (rules.unnamed_encoding, "workbench.files", "os.fdopen(number, 'r')"),
    (rules.unnamed_encoding, "workbench.jobs", "subprocess.run(words, text=True)"),
    (rules.too_long, "workbench.ui.state.live", "x = 1\n" * 451),
    (rules.inverted_ownership, "workbench.ui.style.tab_order", "after = widget.nextInFocusChain()"),
    (rules.banned_name, "workbench.run_manager", ""),
    (rules.banned_name, "workbench.ui.widgets.plot_utils", ""),
    (rules.banned_name, "workbench.misc", ""),
    (rules.private_signals, "workbench.ui.state.live", "class A:\n    _arrived = Signal(object)  # from a thread"),
    (rules.vague_names, "workbench.cli", "for each in runs:\n    print(each)"),
    (rules.vague_names, "workbench.cli", "names = [found for found in runs]"),
    (rules.vague_names, "workbench.cli", "def f(given: bytes) -> None: ..."),
]

ALLOWED = [
    (rules.qt_outside_window, "workbench.ui.state.live", "from PySide6.QtCore import QObject"),
    (rules.qt_outside_window, "workbench.app", "from PySide6.QtWidgets import QApplication"),
    (rules.heavy_in_window, "workbench.ui.state.live", "import numpy"),
    (
        rules.wrong_rooms,
        "workbench.losses.anatomy",
        "from workbench.losses import ce\nfrom workbench.params import param",
    ),
    (rules.wrong_rooms, "workbench.app", "from workbench.ui.window.main_window import MainWindow"),
    (rules.wrong_folders_of_the_window, "workbench.ui.pages.map.page", "from workbench.ui.state import session"),
    (
        rules.pages_that_know_each_other,
        "workbench.ui.pages.map.page",
        "from workbench.ui.pages.map.colours import colouring",
    ),
    (
        rules.wrong_rooms_of_a_folder,
        "workbench.ui.pages.map.side.legend",
        "from workbench.ui.pages.map.model import groups\nfrom workbench.ui.pages.map.side import legend_row",
    ),
    (rules.wrong_rooms_of_a_folder, "workbench.ui.pages.map.page", "from workbench.ui.pages.map.side import legend"),
    (rules.wrong_rooms_of_a_folder, "workbench.reports.document", "from workbench.reports import templates"),
    (rules.wrong_rooms_of_a_folder, "workbench.reports.server", "from workbench import reports"),
    (rules.wrong_rooms_of_a_folder, "workbench.losses.ccp.train", "import workbench.losses.ccp"),
    (rules.starts_work, "workbench.ui.state.background.activity", "import threading\nthreading.get_ident()"),
    (rules.starts_work, "workbench.training.trainer", "DataLoader(data, num_workers=0)"),
    (rules.sql_outside, "workbench.workspace.recorder", "db.execute('insert into runs (name) values (?)')"),
    (
        rules.sql_outside,
        "workbench.ui.state.live",
        '"""Does not insert into runs."""\nask = "Update the run set in the list?"; say = "Select a run from it."',
    ),
    (rules.vague_names, "workbench.cli", "class A:\n    def told(self) -> int:\n        return self.each.found(1)"),
    (rules.unsafe_loading, "workbench.files", "np.load(path, allow_pickle=False, mmap_mode='r')"),
    (
        rules.unnamed_encoding,
        "workbench.files",
        "Path('a').read_text('utf-8'); open('a', 'rb'); Path('a').open('ab'); dialog.open(); archive.open('r.png')\n"
        "open('a', 'w', encoding='utf-8'); Path('a').write_text('x', encoding='utf-8'); os.open('a', os.O_RDONLY)",
    ),
    (rules.too_long, "workbench.ui.state.live", "x = 1\n" * 450),
    (rules.banned_name, "workbench.ui.miscount", ""),
    (rules.private_signals, "workbench.ui.state.live", "class A:\n    arrived = Signal(object)"),
]


@pytest.mark.parametrize(("rule", "name", "text"), PLANTED)
def test_a_planted_breach_is_found(rule, name, text):
    assert rule(Source(name, text))


@pytest.mark.parametrize(("rule", "name", "text"), ALLOWED)
def test_what_is_allowed_is_not_reported(rule, name, text):
    assert rule(Source(name, text)) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule):
    assert len(PACKAGE) > 20
    assert [breach for source in PACKAGE for breach in rule(source)] == []


def test_the_programs_that_build_workbench_name_the_encoding_of_their_text():
    programs = [Source(path.stem, path.read_text("utf-8")) for path in (ROOT / "packaging").glob("*.py")]
    assert len(programs) > 5
    assert [breach for source in programs for breach in rules.unnamed_encoding(source)] == []


def test_the_table_of_rooms_names_the_rooms_that_exist_and_no_other():
    assert set(rules.MAY_IMPORT) == {source.room for source in PACKAGE} - {""}
    assert set(rules.WINDOW_MAY_IMPORT) == {path.stem for path in (ROOT / "workbench" / "ui").glob("[a-z]*")}


def test_a_room_may_import_only_what_is_stated_above_it():
    assert rules.upward(rules.MAY_IMPORT) == []
    assert rules.upward(rules.WINDOW_MAY_IMPORT) == []
    planted = f"{rules.LAYERS}\n| Room | May import |\n|---|---|\n| `low` | `high` |\n| `high` | `low`, `gone` |\n"
    assert rules.upward(rules.rooms_of(planted)) == ["high may import gone, which stands below it"]
    planted = planted.replace("`low`, ", "")
    assert rules.upward(rules.rooms_of(planted))[0] == "low may import high, which stands below it"


def test_every_public_name_has_a_docstring():
    planted = Source("p", '''class A:\n    """A."""\n    def f(self): ...\n    def g(self):\n        """G."""\n''')
    assert rules.undocumented(planted) == ["p.A.f:3 has no docstring"]
    assert [breach for source in PACKAGE for breach in rules.undocumented(source)] == []


def test_a_planted_circle_is_found():
    circle = [
        Source("p", "", is_package=True),
        Source("p.a", "from p import b"),
        Source("p.b", "def late():\n    from p.c import thing"),
        Source("p.c", "import p.a"),
    ]
    assert rules.cycles(rules.import_graph(circle)) == ["p.a -> p.b -> p.c -> p.a"]


def test_names_for_the_type_checker_close_no_circle():
    line = [
        Source("p.a", "import p.b"),
        Source("p.b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import A"),
    ]
    assert rules.cycles(rules.import_graph(line)) == []


def test_the_package_imports_in_no_circle():
    assert rules.cycles(rules.import_graph(PACKAGE)) == []


def test_a_folder_with_rooms_imports_in_no_circle_not_even_for_the_type_checker():
    """A circle of types says that a piece stands in the wrong file."""
    sources = [source for source in PACKAGE if rules.folder_with_rooms(source.name)]
    assert rules.cycles(rules.import_graph(sources, typing_too=True)) == []


def test_the_table_of_the_rooms_of_folders_names_the_rooms_that_exist_and_no_other():
    """Of a file that is named as a room, that it exists."""
    there: dict[str, set[str]] = {folder: set() for folder in rules.FOLDER_ROOMS}
    for source in PACKAGE:
        folder = rules.folder_with_rooms(source.name)
        room = source.name.removeprefix(f"{folder}.").partition(".")[0]
        if folder and (source.is_package or room in rules.FOLDER_ROOMS.get(folder, ())):
            there.setdefault(folder, set()).add(room)
    assert {folder: set(order) for folder, order in rules.FOLDER_ROOMS.items()} == there


def test_architecture_says_what_each_room_of_a_folder_holds():
    for folder, rooms in rules.FOLDER_ROOMS.items():
        *above, name = folder.split(".")
        indent = 6 + 2 * (len(above) - 1)
        text = rules.ARCHITECTURE.read_text("utf-8").partition(f"\n{' ' * indent}{name}/ ")[2]
        text = re.split(rf"\n {{,{indent}}}\w", text)[0]
        assert [room for room in rooms if f"{room}/" not in text and f"{room}.py" not in text] == [], folder


def test_no_folder_with_rooms_is_crowded():
    modules = [source.name for source in PACKAGE if not source.is_package and rules.folder_with_rooms(source.name)]
    files = Counter(name.rpartition(".")[0] for name in modules)
    most = {folder: MOST_OF_A_PAGE if folder.startswith(rules.PAGES) else MOST_FILES for folder in files}
    assert {folder: count for folder, count in files.items() if count > most[folder]} == {}


@pytest.mark.parametrize("text", ["data = '/{}/x'", "url: https://{}/simple", "see C:\\{}\\me", "/{}/me/x"])
def test_a_planted_place_is_found(text):
    places = ("work", "pypi" + ".org", "Users", "home")
    assert any(rules.machine_places("a.txt", "first line\n" + text.format(place)) for place in places)
    assert rules.machine_places("a.txt", text.format("elsewhere")) == []


def test_no_tracked_file_names_a_machine_or_a_registry():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is not a git checkout, so there are no tracked files")
    found = []
    for name in filter(None, listed.stdout.decode().split("\0")):
        try:
            text = (ROOT / name).read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):  # a picture, or a file just taken away
            continue
        found += rules.machine_places(name, text)
    assert found == []


def test_a_checkout_of_windows_has_the_same_bytes():
    """Git for Windows writes CRLF otherwise: shipped hashes of sources would never be those of the sources."""
    assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    sources = [path for folder in ("workbench", "resources", "packaging") for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in sources if b"\r\n" in path.read_bytes()] == []


def test_no_test_brings_a_second_sqlite_library_into_the_process():
    """Closing one library's file drops the locks of the other's: a reader was seen to die of a bus error."""
    second = re.compile(r"^\s*(import sqlite3|from sqlite3 import|import pysqlite3)", re.MULTILINE)
    assert second.search("import csv\nimport sqlite3\n")
    guilty = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        if second.search(re.sub(r'"""(.|\n)*?"""', "", path.read_text("utf-8")))
    ]
    assert not guilty


def test_what_says_how_far_work_is_has_one_name():
    spelt = "Callable[[str, int, int], None]"
    holders = [path for path in (ROOT / "workbench").rglob("*.py") if spelt in path.read_text("utf-8")]
    assert holders == [ROOT / "workbench" / "progress.py"]


def test_every_file_of_tests_has_a_name_of_its_own():
    """Their folders are no packages: pytest refuses a second module of one name, but only where it collects both."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
