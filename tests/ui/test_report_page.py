"""The Report page: preview of what is ticked, export, and a place that cannot be written."""

import zipfile
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QDialog, QLineEdit, QMessageBox

from tests.ui.thread_process import ThreadProcess
from tests.ui.trained import trained_run
from workbench.problem import Problem
from workbench.reports.templates import template
from workbench.ui.pages.report.choices import KEY_ROLE, FormatChoices
from workbench.ui.pages.report.model import ReportModel
from workbench.ui.pages.report.page import ReportPage
from workbench.ui.pages.report.preview import MARGIN, READING, Preview
from workbench.ui.pages.report.run_dialog import RunDialog
from workbench.ui.state.background.analysis import AnalysisClient
from workbench.ui.state.report_offer import ReportOffer
from workbench.ui.widgets.dialogs.text_question import TextQuestion
from workbench.workspace.choices.report_templates import arrangements, choice, store_arrangement

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def open_page(qtbot, session, workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache")

    def open_now():
        made = qtbot.addWidget(ReportPage(session))
        made.resize(960, 640)
        made.show()
        session.show_run(run_id)
        qtbot.waitUntil(lambda: made.ready and bool(made.folder.text()))
        return made

    return open_now


@pytest.fixture
def _drawn_here(session):
    session.drawing.close()
    session.drawing = AnalysisClient(session, partial(ThreadProcess, module="workbench.reports.server"))
    yield
    session.drawing.close()


@pytest.fixture
def page(open_page, drawing):
    """With all that is ticked at first, of which nothing is drawn: most tests look at something else."""
    return open_page()


@pytest.fixture
def drawn_page(open_page, workspace, _drawn_here):
    """With the summary alone ticked, which is drawn in a moment."""
    store_arrangement(workspace, "one-run", {"ticked": ["summary"]})
    return open_page()


@pytest.fixture
def whole_page(open_page, _drawn_here):
    """With all that is ticked at first, drawn."""
    return open_page()


@pytest.fixture
def process_page(open_page):
    """The same, drawn by the process that draws in the program; other tests draw in their own."""
    return open_page()


def tick_only(page, key):
    """Untick every section but one."""
    for row in range(page.choices.list.count()):
        item = page.choices.list.item(row)
        item.setCheckState(Qt.CheckState.Checked if item.data(KEY_ROLE) == key else Qt.CheckState.Unchecked)


def only_tables(page):
    """Tick CSV alone, which is written without figures."""
    for name in ("html", "pdf", "csv"):
        page.formats.boxes[name].click()
    assert page.formats.formats() == ["csv"]


def test_pages_that_were_not_laid_out_yet_have_their_numbers(qtbot):
    preview = qtbot.addWidget(Preview())
    preview.resize(600, 400)
    preview.show_pages([QImage(210, 297, QImage.Format.Format_RGB32)] * 4)
    assert preview.page_word.text() == "Page 1 of 4"


@pytest.mark.parametrize("width", [240, 700])
def test_the_tools_of_the_preview_are_whole_in_a_narrow_window(qtbot, width):
    preview = qtbot.shown(Preview(), width, 400)
    preview.show_pages([QImage(210, 297, QImage.Format.Format_RGB32)] * 14)
    tools = (preview.page_word, preview.zoom_box, preview.larger, preview.on)
    qtbot.waitUntil(lambda: all(tool.width() >= tool.sizeHint().width() for tool in tools))  # laid out in turns to come
    for tool in tools:
        assert preview.rect().contains(tool.geometry().translated(tool.parentWidget().mapTo(preview, QPoint())))
    assert (preview.zoom_box.mapTo(preview, QPoint()).y() > preview.on.height()) == (width == 240)


def test_the_preview_follows_the_ticks(process_page, qtbot):
    qtbot.waitUntil(lambda: process_page.preview.count >= 3)
    tick_only(process_page, "summary")
    assert process_page.choices.sections() == ["summary"]
    qtbot.waitUntil(lambda: process_page.preview.count == 1)


def test_pages_are_shown_at_reading_width_and_zoomed(whole_page, qtbot):
    preview = whole_page.preview
    qtbot.waitUntil(lambda: preview.count >= 3)
    sheets = [preview.area.widget().layout().itemAt(number).widget() for number in range(preview.count)]
    room = preview.area.viewport().width()
    qtbot.waitUntil(lambda: {sheet.pixmap().width() for sheet in sheets} == {preview.page_width})
    assert room - 2 * MARGIN <= preview.page_width <= room, "at first a page has the width of the preview"
    preview.zoom_box.setCurrentText("100%")
    qtbot.waitUntil(lambda: {sheet.pixmap().width() for sheet in sheets} == {READING})
    preview.larger.click()
    assert preview.zoom_box.currentText() == "125%"
    qtbot.waitUntil(lambda: {sheet.pixmap().width() for sheet in sheets} == {READING * 5 // 4})
    preview.zoom_box.setCurrentText("200%")
    preview.larger.click()
    assert preview.zoom_box.currentText() == "200%", "the largest"
    assert preview.page_word.text() == f"Page 1 of {preview.count}"
    preview.on.click()
    qtbot.waitUntil(lambda: preview.page_word.text() == f"Page 2 of {preview.count}")


def test_sections_name_their_page_also_those_with_a_long_name_and_a_clicked_one_comes_into_sight(whole_page, qtbot):
    assert whole_page.export_button.text() == "Export 2 formats"
    whole_page.formats.boxes["pdf"].click()
    assert whole_page.export_button.text() == "Export 1 format"
    listed = whole_page.choices.list
    qtbot.waitUntil(lambda: " · p 1" in listed.item(1).text())
    assert listed.item(1).text() == "Summary · p 1"
    assert whole_page.choices.sections()[1] == "summary"
    qtbot.waitUntil(lambda: any("queries · p " in listed.item(row).text() for row in range(10)))
    words = next(text for row in range(10) if "queries · p " in (text := listed.item(row).text()))
    elided = listed.fontMetrics().elidedText(words, listed.textElideMode(), 150)
    assert elided != words
    assert elided[-3:] == words[-3:]
    assert listed.sizeHintForColumn(0) <= listed.viewport().width(), "at 100% text all names are whole"
    qtbot.waitUntil(lambda: whole_page.preview.area.verticalScrollBar().maximum() > 1500)
    row = whole_page.choices.sections().index("environment")
    where = listed.visualItemRect(listed.item(row)).center()
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=where)
    last = whole_page.model.sections["environment"]
    assert last >= 3
    assert whole_page.preview.page == last


def test_the_key_of_the_export_works_while_a_text_is_typed(drawn_page, qtbot, tmp_path):
    drawn_page.export_action.setShortcut("Ctrl+A")  # a key that text fields claim everywhere, as Ctrl+E on Linux
    only_tables(drawn_page)
    for number, field in enumerate((drawn_page.choices.title, drawn_page.choices.notes, drawn_page.folder)):
        drawn_page.folder.setText(str(tmp_path / f"out{number}"))
        field.setFocus()
        qtbot.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil((tmp_path / f"out{number}" / "metrics.csv").exists)
        qtbot.waitUntil(drawn_page.export_button.isEnabled)


def test_files_of_a_relative_folder_are_named_in_full(drawn_page, qtbot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn_page.formats.boxes["pdf"].click()
    drawn_page.folder.setText("out")
    drawn_page.export()
    qtbot.waitUntil(lambda: bool(drawn_page.model.written))
    assert drawn_page.model.written == [tmp_path / "out" / "report.html"]


def test_a_title_stays_with_the_run_that_it_was_given_to(page, session, workspace, qtbot, tmp_path):
    first = session.run_id
    other = trained_run(workspace, tmp_path / "cache", name="other")
    page.choices.title.setText("Mine")
    session.show_run(other)
    assert page.choices.title.text() == ""
    page.choices.title.setText("Yours")
    page.templates.choose("comparison")
    assert page.choices.title.text() == ""
    page.templates.choose("one-run")
    assert page.choices.title.text() == "Yours"
    session.show_run(first)
    assert page.choices.title.text() == "Mine"


def test_a_seed_in_the_name_of_a_run_is_not_named_again(page, session, workspace, qtbot, tmp_path):
    trained_run(workspace, tmp_path / "cache", name="other, seed 0")
    dialog = RunDialog(workspace.runs(), [], session.catalog, page)
    words = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert [text.partition(":")[0].split("   ")[1] for text in words] == ["other, seed 0", "blobs, seed 0"]


def test_formats_and_paper_are_remembered(page, session, qtbot):
    page.formats.boxes["csv"].click()
    page.formats.paper_box.setCurrentIndex(page.formats.paper_box.findData("letter"))
    page.formats.paper_box.activated.emit(page.formats.paper_box.currentIndex())
    again = qtbot.addWidget(FormatChoices(session.preferences))
    assert again.formats() == ["html", "pdf", "csv"]
    assert again.paper() == "letter"


def test_another_paper_is_drawn_anew(drawn_page, qtbot):
    tick_only(drawn_page, "summary")
    qtbot.waitUntil(lambda: drawn_page.preview.count == 1)
    sheet = drawn_page.preview.area.widget().layout().itemAt(0).widget()
    tall = sheet.pixmap().height()
    drawn_page.formats.paper_box.setCurrentIndex(drawn_page.formats.paper_box.findData("letter"))
    drawn_page.formats.paper_box.activated.emit(drawn_page.formats.paper_box.currentIndex())

    def shorter():
        shown = drawn_page.preview.area.widget().layout().itemAt(0).widget()
        return shown.pixmap().height() and shown.pixmap().height() < tall

    qtbot.waitUntil(shorter)


def test_export_writes_the_ticked_formats_under_the_given_title(process_page, qtbot, tmp_path):
    process_page.choices.title.setText("<i>My & title</i>")
    process_page.formats.boxes["pdf"].setChecked(False)
    process_page.formats.boxes["csv"].setChecked(True)
    process_page.folder.setText(str(tmp_path / "out"))
    process_page.export()
    qtbot.waitUntil(lambda: bool(process_page.model.written))
    assert {path.relative_to(tmp_path / "out").as_posix() for path in process_page.model.written} == {
        "report.html", "metrics.csv", "scalars.csv", "classes.csv", "class-sizes.csv", "settings.csv", "queries.csv",
        *(f"figures/{name}.csv" for name in ("ce-spce", "retrieval", "loss", "map", "worst", "best")),
    }  # fmt: skip
    assert "&lt;i&gt;My &amp; title&lt;/i&gt;" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert process_page.written.open_file.isVisible()


def test_a_copied_path_has_no_letter_that_cannot_be_seen(page, qtbot):
    page.written.show_files([Path("a\u200bb") / "report.pdf"], "Written")
    assert page.written.copy_path.text() == "Copy path with escapes"
    page.written.copy_path.click()
    assert QGuiApplication.clipboard().text() == str(Path("a\\u200bb") / "report.pdf")
    page.written.show_files([Path("مى\u200cخواهم") / "report.pdf"], "Written")
    assert page.written.copy_path.text() == "Copy path", "which words of Persian are written with"
    page.written.copy_path.click()
    assert QGuiApplication.clipboard().text() == str(Path("مى\u200cخواهم") / "report.pdf")


def test_a_place_that_cannot_be_written_is_said_and_export_can_be_tried_again(drawn_page, session, qtbot, tmp_path):
    said = []
    session.noticed.connect(said.append)
    (tmp_path / "file").write_text("in the way")
    only_tables(drawn_page)
    drawn_page.folder.setText(str(tmp_path / "out"))
    drawn_page.export()
    qtbot.waitUntil(lambda: bool(drawn_page.model.written))
    drawn_page.folder.setText(str(tmp_path / "file" / "out"))
    drawn_page.export()
    qtbot.waitUntil(lambda: any(isinstance(each, Problem) for each in said))
    assert drawn_page.export_button.isEnabled()
    assert not drawn_page.written.isVisible(), "the files of the export before are not its files"


def test_nothing_ticked_nothing_exported(page):
    for box in page.formats.boxes.values():
        box.setChecked(False)
    assert not page.export_button.isEnabled()
    assert page.export_button.toolTip() == "Tick a format first"


def test_without_a_run_there_is_a_hint(qtbot, session):
    page = qtbot.addWidget(ReportPage(session))
    assert page.currentWidget() is page.hint


def test_sections_move_by_keyboard_and_come_back_with_the_workspace(page, session, qtbot):
    page.choices.list.setCurrentRow(1)
    page.choices.list.setFocus()
    qtbot.keyClick(page.choices.list, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert page.choices.sections()[1:3] == ["metrics", "summary"]
    page.choices.move_up()
    page.choices.move_up()
    page.choices.notes.setPlainText("**mine**")
    assert page.choices.sections()[:3] == ["summary", "notes", "metrics"]
    assert not page.choices.up.isEnabled()
    qtbot.waitUntil(lambda: "one-run" in arrangements(session.workspace))
    again = qtbot.addWidget(ReportPage(session))
    qtbot.waitUntil(lambda: again.ready)
    assert again.choices.sections()[:3] == ["summary", "notes", "metrics"]
    assert again.choices.notes.toPlainText() == "**mine**"
    page.choices.again.click()
    next(each for each in page.findChild(QMessageBox).buttons() if each.text() == "Reset").click()
    assert page.choices.sections()[:2] == ["notes", "summary"]
    qtbot.waitUntil(lambda: "one-run" not in arrangements(session.workspace))


def test_a_comparison_asks_for_runs_and_offers_their_metrics(drawn_page, session, workspace, qtbot, tmp_path):
    other = trained_run(workspace, tmp_path / "cache", name="other")
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    drawn_page.templates.box.setCurrentIndex(drawn_page.templates.box.findData("comparison"))
    drawn_page.templates.box.activated.emit(1)
    assert drawn_page.runs_button.isVisible()
    assert drawn_page.model.runs == [1, other]
    qtbot.waitUntil(lambda: drawn_page.numbers.metric_box.count() > 3)
    assert [drawn_page.numbers.at_box.itemText(row) for row in range(3)] == ["best epoch", "last epoch", "epoch 0"]
    drawn_page.numbers.at_box.setCurrentIndex(2)
    assert drawn_page.numbers.wanted() == ("MAP@R", 0)
    drawn_page.runs_button.click()
    dialog = drawn_page.findChild(RunDialog)
    dialog.search.setText("other")
    dialog.none.click()
    assert not dialog.take.isEnabled()
    dialog.all.click()
    assert dialog.chosen == [other]
    dialog.take.click()
    assert drawn_page.model.runs == [other]
    drawn_page.choices.title.setText("Both")
    tick_only(drawn_page, "runs")
    for box in drawn_page.formats.boxes.values():
        box.setChecked(False)
    drawn_page.formats.boxes["bundle"].setChecked(True)
    drawn_page.folder.setText(str(tmp_path / "out"))
    drawn_page.export()
    qtbot.waitUntil(lambda: bool(drawn_page.model.written))
    assert zipfile.is_zipfile(tmp_path / "out" / "report.zip")
    assert drawn_page.model.written == [tmp_path / "out" / "report.zip"]


def both_runs(page, session, workspace, qtbot, tmp_path):
    other = trained_run(workspace, tmp_path / "cache", name="other")
    qtbot.waitUntil(lambda: len(session.runs()) == 2)
    return [1, other]


def test_a_comparison_begins_with_the_runs_that_are_ticked_in_the_list(page, session, workspace, qtbot, tmp_path):
    both_runs(page, session, workspace, qtbot, tmp_path)
    third = trained_run(workspace, tmp_path / "cache", name="third")
    qtbot.waitUntil(lambda: len(session.runs()) == 3)
    session.ticks.choose([1, third])
    page.templates.choose("comparison")
    assert page.model.runs == [1, third]
    assert page.runs_word.text() == "2 of 3 runs"
    session.ticks.choose([1])
    assert page.model.runs == [1, 2, third], "one is none to compare"
    assert page.runs_word.text() == "3 of 3 runs"
    assert not page.follow.isVisible()
    page.model.chosen = [2]
    session.ticks.choose([1, third])
    assert page.model.runs == [2], "chosen on the page"


def test_a_comparison_follows_the_ticks_again_once_other_runs_were_chosen(page, session, workspace, qtbot, tmp_path):
    first, second = both_runs(page, session, workspace, qtbot, tmp_path)
    page.templates.choose("comparison")
    session.ticks.choose([first, second])
    assert not page.follow.isVisible()
    page.runs_button.click()
    dialog = page.findChild(RunDialog)
    dialog.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    dialog.take.click()
    assert page.model.runs == [first]
    assert page.runs_word.text() == "1 of 2 runs, chosen here"
    qtbot.waitUntil(lambda: choice(workspace).get("runs") == [first])
    assert page.follow.isVisible()
    page.follow.click()
    assert page.model.runs == [first, second]
    assert page.runs_word.text() == "2 of 2 runs"
    assert not page.follow.isVisible()
    qtbot.waitUntil(lambda: choice(workspace).get("runs") == [])
    page.templates.choose("one-run")
    page.model.chosen = [first]
    session.runs_changed.emit()
    assert not page.follow.isVisible(), "a report of one run follows the list in any case"


def test_a_comparison_that_leaves_out_the_selected_run_says_so(page, session, workspace, qtbot, tmp_path):
    first, second = both_runs(page, session, workspace, qtbot, tmp_path)
    page.model.chosen = [first]
    page.templates.choose("comparison")
    assert not page.left_out.isVisible()
    session.show_run(second)
    assert page.left_out.isVisible()
    assert page.left_out.text() == "This report is about run 1, not about the selected run 2."
    page.templates.choose("one-run")
    assert not page.left_out.isVisible(), "the report of one run is of the selected one"


def test_no_number_of_pages_is_shown_while_the_first_are_drawn(qtbot):
    preview = qtbot.addWidget(Preview())
    preview.say("Drawing the pages…")
    assert preview.page_word.text() == ""


def test_runs_that_are_chosen_besides_follow_those_of_the_baseline():
    model = ReportModel()
    model.chosen = [4, 2, 3]
    model.choose([1, 2, 4])
    assert model.chosen == [4, 2, 1]


def test_a_comparison_of_one_run_has_the_title_of_that_run(page, session, workspace, qtbot, tmp_path):
    first, second = both_runs(page, session, workspace, qtbot, tmp_path)
    qtbot.waitUntil(lambda: {first, second} <= {run.id for run in page.model.known})
    page.model.many, page.model.chosen = True, [first]
    page.model.shown = next(run for run in page.model.known if run.id == second)
    assert page.model.usual_title == next(run.name for run in page.model.known if run.id == first)
    page.model.chosen = [first, second]
    assert page.model.usual_title == "Comparison of 2 runs"


def test_what_is_offered_is_reported_and_remembered_with_the_workspace(page, session, workspace, qtbot, tmp_path):
    runs = both_runs(page, session, workspace, qtbot, tmp_path)
    session.report_offered.emit(ReportOffer((runs[1],), "recall@1", 2))
    assert page.templates.current().key == "comparison"
    assert page.model.runs == [runs[1]]
    qtbot.waitUntil(lambda: page.numbers.metric_box.count() > 3)
    assert page.numbers.wanted() == ("recall@1", 2)
    qtbot.waitUntil(lambda: bool(choice(session.workspace)))
    again = qtbot.addWidget(ReportPage(session))
    qtbot.waitUntil(lambda: again.ready)
    assert (again.templates.current().key, again.model.runs) == ("comparison", [runs[1]])
    assert again.numbers.wanted() == ("recall@1", 2)
    qtbot.waitUntil(lambda: again.numbers.metric_box.count() > 3)
    assert again.numbers.wanted() == ("recall@1", 2)


def test_an_offered_metric_that_the_runs_lack_gives_way_to_one_that_they_have(page, session, qtbot):
    session.report_offered.emit(ReportOffer((1,), "validation/MAP@R", 9))
    assert page.numbers.wanted() == ("validation/MAP@R", 9)
    qtbot.waitUntil(lambda: page.numbers.wanted() == ("MAP@R", "best"))


def test_templates_of_ones_own_are_saved_renamed_and_deleted(page, session, qtbot, monkeypatch):
    templates, answers, said, settled = page.templates, ["mine", "Paper appendix", "Yours"], [], []
    session.noticed.connect(said.append)
    session.settled.connect(settled.append)

    def typed(dialog):
        line = dialog.findChild(QLineEdit)
        line.selectAll()
        line.insert(answers.pop(0) + " " * 300)
        assert len(line.text()) == 80, "no more can be typed than is taken"
        return QDialog.DialogCode.Accepted

    monkeypatch.setattr(TextQuestion, "exec", typed)
    assert not templates.rename_action.isEnabled(), "those that are brought keep their names"
    tick_only(page, "map")
    templates.save_action.trigger()
    assert (page.templates.box.currentText(), page.choices.sections()) == ("mine", ["map"])
    key = templates.current().key
    qtbot.waitUntil(lambda: key in arrangements(session.workspace))
    templates.rename_action.trigger()
    assert [str(each).partition(".")[0] for each in said] == ["There is a template named “Paper appendix” already"]
    settled.clear()
    templates.rename_action.trigger()
    assert settled == [session.here()], "what was said of the other name is answered"
    qtbot.waitUntil(lambda: arrangements(session.workspace)[key]["title"] == "Yours")
    again = qtbot.addWidget(ReportPage(session))
    qtbot.waitUntil(lambda: again.ready)
    assert again.templates.box.findText("Yours") == again.templates.box.count() - 1
    page.choices.again.click()
    assert page.choices.sections() == list(template("one-run").sections)
    templates.delete_action.trigger()
    box = page.findChild(QMessageBox)
    assert box.defaultButton().text() == "Keep it"
    next(each for each in box.buttons() if each.text() == "Delete").click()
    assert (templates.current().key, page.templates.box.findText("Yours")) == ("one-run", -1)
    qtbot.waitUntil(lambda: key not in arrangements(session.workspace))


def test_reset_asks_before_it_forgets_words_of_ones_own(page, qtbot):
    again, notes = page.choices.again, page.choices.notes
    qtbot.keyClicks(notes, "Mine")
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    box = page.findChild(QMessageBox)
    assert box.defaultButton().text() == "Keep it"
    qtbot.mouseClick(box.defaultButton(), Qt.MouseButton.LeftButton)
    assert notes.toPlainText() == "Mine"
    qtbot.waitUntil(lambda: page.findChild(QMessageBox) is None)
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    box = page.findChild(QMessageBox)
    qtbot.mouseClick(next(each for each in box.buttons() if each.text() == "Reset"), Qt.MouseButton.LeftButton)
    assert notes.toPlainText() == ""
    qtbot.waitUntil(lambda: page.findChild(QMessageBox) is None)
    tick_only(page, "map")
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    assert page.findChild(QMessageBox) is None, "nothing is lost that two clicks would not bring back"
    assert page.choices.sections() == list(template("one-run").sections)


def test_export_without_a_folder_says_what_is_missing(page):
    page.folder.clear()
    assert not page.export_button.isEnabled()
    assert page.export_button.toolTip() == "Name a folder first"
    page.folder.setText("somewhere")
    assert page.export_button.isEnabled()
    assert page.export_button.toolTip() == ""


def test_a_comparison_does_not_replace_the_report_of_a_run(page, session, qtbot, tmp_path, monkeypatch):
    own = page.folder.text()
    page.model.written = [tmp_path / "report.html"]
    page.templates.choose("comparison")
    qtbot.waitUntil(lambda: page.folder.text() != own)
    assert (page.folder.text().rpartition("/")[2], own.rpartition("/")[2]) == ("comparison", "report")
    assert page.model.written == [], "these files are of another report"
    page.templates.choose("one-run")
    qtbot.waitUntil(lambda: page.folder.text() == own)
    page.folder.setText(str(tmp_path / "mine"))
    proposed, find = [], session.find_place

    def noted(run_id, name, then):
        return find(run_id, name, lambda folder: proposed.append(then(folder)))

    monkeypatch.setattr(session, "find_place", noted)
    page.templates.choose("comparison")
    qtbot.waitUntil(lambda: bool(proposed))
    assert page.folder.text() == str(tmp_path / "mine")
