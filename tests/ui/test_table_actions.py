"""A table is copied and saved in the same way wherever it is shown: by keys, by its menu, and on a thread."""

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFileDialog, QTableView

from workbench.files.spreadsheet import number_or_text
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.widgets.dialogs.save_file import ask_file
from workbench.ui.widgets.tables.table_actions import AT_ONCE, TableActions

ROWS = [("ant", 3), ("=bee", 4)]
KINDS = {".png": "PNG", ".svg": "SVG"}


class Shown(QObject):
    """A table with two rows, and the threads that made its file."""

    def __init__(self, qtbot, session) -> None:
        super().__init__()
        self.rows = SortedRows(("Class", "Images"), lambda row: row, lambda column, value: str(value), self)
        self.view = QTableView()
        self.view.setModel(self.rows)
        self.threads: list[threading.Thread] = []
        self.actions = TableActions(session.fulfil, self.view, "classes.csv", self.rows.unwritten, lambda: self.write)
        qtbot.addWidget(self.view)
        self.rows.show(ROWS)
        with qtbot.waitExposed(self.view):
            self.view.show()

    def write(self) -> str:
        self.threads.append(threading.current_thread())
        return "class,images\nant,3\n'=bee,4\n"


@pytest.fixture
def shown(qtbot, session) -> Shown:
    return Shown(qtbot, session)


def typed(monkeypatch, path: Path, kind: str = "") -> list[tuple[str, str]]:
    """Have the file dialog answer with a path; the titles and the files that it was opened with."""
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(
        QFileDialog,
        "getSaveFileName",
        lambda parent, title, offered, kinds: asked.append((title, offered)) or (str(path), kind),
    )
    return asked


def test_ctrl_c_in_the_table_copies_it_and_says_so(qtbot, session, shown):
    said = []
    session.mentioned.connect(said.append)
    shown.view.setFocus()
    qtbot.keyClick(shown.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Class\tImages\nant\t3\n'=bee\t4"
    assert said == ["The table was copied."]


def test_menu_and_buttons_offer_the_same_and_nothing_while_the_table_is_empty(qtbot, shown):
    buttons = [*shown.actions.buttons("A row for each class"), *shown.actions.icons()]
    for button in buttons:
        qtbot.addWidget(button)
    assert [action.text() for action in shown.view.actions()] == ["Copy table", "Save CSV…"]
    assert [button.text() or button.accessibleName() for button in buttons] == 2 * ["Copy table", "Save CSV…"]
    assert all(button.isEnabled() for button in buttons)
    shown.rows.show([])
    assert not any(part.isEnabled() for part in (*buttons, *shown.view.actions()))


def test_the_file_is_made_on_a_thread_and_the_next_one_is_offered_in_its_folder(
    qtbot, session, shown, tmp_path, monkeypatch
):
    notices = []
    session.noticed.connect(notices.append)
    (tmp_path / "here").mkdir()
    asked = typed(monkeypatch, tmp_path / "here" / "mine.csv")
    shown.actions.save.trigger()
    qtbot.waitUntil(lambda: len(notices) == 1)
    assert (tmp_path / "here" / "mine.csv").read_text("utf-8").startswith("class,images\n")
    assert notices == [f"The table was written to {tmp_path / 'here' / 'mine.csv'}."]
    assert shown.threads[0] is not threading.main_thread()
    shown.actions.save.trigger()
    qtbot.waitUntil(lambda: len(notices) == 2)
    first, second = asked
    assert first == ("Save the table", str(Path.home() / "classes.csv"))
    assert second == ("Save the table", str(tmp_path / "here" / "classes.csv"))


def test_what_was_shown_when_it_was_asked_for_is_saved(qtbot, session, shown, tmp_path, monkeypatch):
    notices = []
    session.noticed.connect(notices.append)
    actions = TableActions(session.fulfil, shown.view, "classes.csv")
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *asked: shown.rows.show([]) or (str(tmp_path / "mine.csv"), "")
    )  # a run goes on while the file is chosen
    actions.save.trigger()
    qtbot.waitUntil(lambda: len(notices) == 1)
    assert (tmp_path / "mine.csv").read_text("utf-8") == "Class,Images\nant,3\n'=bee,4\n"


def test_a_file_that_cannot_be_written_is_said_and_leaves_nothing(qtbot, session, shown, tmp_path):
    notices = []
    session.noticed.connect(notices.append)
    (tmp_path / "old.csv").mkdir()
    shown.actions.save_to(tmp_path / "old.csv")
    qtbot.waitUntil(lambda: len(notices) == 1)
    assert "is a folder, not a file" in str(notices[0])
    shown.actions.save_to(tmp_path / "gone" / "classes.csv")
    qtbot.waitUntil(lambda: len(notices) == 2)
    assert "could not be written" in str(notices[1])
    assert not (tmp_path / "gone").exists()


def test_a_name_without_an_ending_gets_that_of_the_chosen_kind(session, tmp_path, monkeypatch):
    def asked(name: str, kind: str) -> Path | None:
        typed(monkeypatch, tmp_path / name, kind)
        return ask_file(None, session.preferences, "Save the plot", "loss.png", KINDS)

    assert asked("loss", "SVG (*.svg)") == tmp_path / "loss.svg"
    assert asked("run-0.5", "") == tmp_path / "run-0.5.png"
    assert asked("loss.SVG", "PNG (*.png)") == tmp_path / "loss.SVG"


def test_a_file_that_nobody_was_asked_about_is_asked_for_by_its_whole_name(session, tmp_path, monkeypatch):
    (tmp_path / "loss.png").write_bytes(b"mine")
    asked, answers = [], iter([tmp_path / "loss", tmp_path / "other"])
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *words: asked.append(words[1:3]) or (str(next(answers)), "")
    )
    assert ask_file(None, session.preferences, "Save the plot", "plot.png", KINDS) == tmp_path / "other.png"
    assert asked[1] == ("Save the plot: loss.png already exists", str(tmp_path / "loss.png"))


def test_a_name_that_is_too_long_is_refused_when_it_is_written(qtbot, session, shown, tmp_path, monkeypatch):
    notices = []
    session.noticed.connect(notices.append)
    typed(monkeypatch, tmp_path / ("long" * 100))
    shown.actions.save.trigger()
    qtbot.waitUntil(lambda: len(notices) == 1)
    assert "could not be written" in str(notices[0])


def test_a_question_that_is_cancelled_writes_and_remembers_nothing(session, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *asked: ("", ""))
    assert ask_file(None, session.preferences, "Save the plot", "loss.png", KINDS) is None
    assert session.preferences.newest("save_folders") is None


def test_a_table_without_lines_of_its_own_is_copied_and_saved_as_it_is_shown(qtbot, session, tmp_path):
    view, model = QTableView(), QStandardItemModel()
    qtbot.addWidget(view)
    view.setModel(model)
    actions = TableActions(session.fulfil, view, "groups.csv")
    assert not actions.copy.isEnabled(), "it is empty"
    model.setHorizontalHeaderLabels(["Group", "MAP@R %", "Δ", "Queries"])
    for row in (["=CE", "58.1 ± 0.3", "\u22121.5", "1,011"], ["0042", "", "-0.25", "7"]):
        model.appendRow([QStandardItem(cell) for cell in row])
    actions.copy.trigger()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "Group\tMAP@R %\tΔ\tQueries", "'=CE\t58.1 ± 0.3\t\u22121.5\t1,011", "0042\t\t-0.25\t7",
    ]  # fmt: skip
    actions.save_to(tmp_path / "groups.csv")
    qtbot.waitUntil((tmp_path / "groups.csv").exists)
    assert (tmp_path / "groups.csv").read_text("utf-8").splitlines() == [
        "Group,MAP@R %,Δ,Queries", "'=CE,58.1 ± 0.3,-1.5,1011", "0042,,-0.25,7",
    ]  # fmt: skip


def test_a_name_with_a_sign_is_no_number_in_the_file(qtbot, session, tmp_path):
    rows = SortedRows(("Class", "Gain"), lambda row: row, lambda column, value: str(value))
    view = QTableView()
    qtbot.addWidget(view)
    view.setModel(rows)
    actions = TableActions(session.fulfil, view, "classes.csv", rows.unwritten)
    rows.show([("-05", -1.5), ("+1.50", 0.25), ("'-x", 2)])
    actions.save_to(tmp_path / "classes.csv")
    qtbot.waitUntil((tmp_path / "classes.csv").exists)
    assert (tmp_path / "classes.csv").read_text("utf-8").splitlines() == [
        "Class,Gain", "'-05,-1.5", "'+1.50,0.25", "''-x,2",
    ]  # fmt: skip


def test_the_lines_of_very_many_rows_are_written_on_a_thread(qtbot, session, monkeypatch):
    threads = []

    def in_words(column: int, value: object) -> str:
        threads.append(threading.current_thread())
        return str(value)

    rows = SortedRows(("Number",), lambda row: (row,), in_words)
    view = qtbot.addWidget(QTableView())
    view.setModel(rows)
    actions = TableActions(session.fulfil, view, "numbers.csv", rows.unwritten)
    rows.show(list(range(AT_ONCE + 1)))
    actions.copy.trigger()
    rows.show([1])  # what was shown then is copied
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "")
    assert len(QGuiApplication.clipboard().text().splitlines()) == AT_ONCE + 2
    assert threading.main_thread() not in threads


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("-13.36", -13.36), ("1,011", 1011), ("1,011.5", 1011.5), ("+0.50", 0.5), ("−3", -3), ("1 ± 2", "1 ± 2"),
        ("007", "007"), ("1.10", "1.10"), ("1,2", "1,2"), ("-", "-"),
    ],
)  # fmt: skip
def test_numbers_of_a_table_are_numbers_in_csv(cell, value):
    assert number_or_text(cell) == value
