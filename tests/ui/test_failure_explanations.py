"""Why queries fail, on the Retrieval page: sentences, filters, missed neighbours, confusions, hubs, won and lost."""

import threading
from functools import partial
from time import sleep

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QWidget
from small_run import blobs, store_run

from tests.ui.browsed import at_rest, open_page
from tests.ui.browsed import listed as listed_in_order
from tests.ui.pointing import choose as pick
from tests.ui.pointing import click_cell
from tests.waits import HANG
from workbench.files.spreadsheet import csv_cell
from workbench.results.explanations import Explanation, explain_failures
from workbench.results.leaving_out import without_samples
from workbench.results.mistakes import read_changes
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.pages.retrieval import tagging
from workbench.ui.pages.retrieval.classes.confusion_bars import MOST
from workbench.ui.pages.retrieval.model.cause_names import TIPS, TITLES, WORDS
from workbench.ui.pages.retrieval.model.causes import Why, before_first_hit, changed, evidence
from workbench.ui.pages.retrieval.neighbours.why_card import LINES, WhyCard
from workbench.ui.pages.retrieval.queries.query_table import CAUSE_ROLE, TAKEN_ROLE
from workbench.ui.state.commands import Commands
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.images.pictures import shared_loader
from workbench.workspace.choices.sample_tags import all_tags, tag_sample
from workbench.workspace.rows import Neighbour

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise")
LABELS = np.repeat(np.arange(5), 24)
NAMES = ("ant", "=bee & co", "<b>cat</b>", "dog", "elk")


def tables():
    """Two epochs with failures; in the second one sample lies on a copy of another class."""
    first, second = blobs(LABELS, 1.4, 0), blobs(LABELS, 0.9, 1)
    second[30] = second[5] + 1e-6
    return [first, second]


@pytest.fixture
def run(workspace):
    return store_run(workspace, LABELS, embeddings=tables(), class_names=NAMES)


@pytest.fixture
def page(qtbot, session, run):
    session.show_run(run.run_id)
    made = open_page(qtbot, session, (960, 700))
    qtbot.waitUntil(lambda: made.browsing.filters.explained is not None)
    return made


@pytest.fixture
def rest(qtbot, page):
    """A function that returns when the page is at rest."""
    return partial(at_rest, qtbot, page)


def choose(combo, data):
    """As a person does."""
    place = combo.findData(data)
    assert place >= 0
    pick(combo, place)


def listed(page):
    return set(listed_in_order(page))


def found_of(session):
    return explain_failures(session.workspace, session.evaluation_id, lambda text, done, total: None)


def test_each_cause_lists_its_queries_and_counts_them(page, session):
    found, causes = found_of(session), page.queries.why.causes
    assert sum(found.counts.values()) == (session.workspace.queries(session.evaluation_id).first_hit > 1).sum()
    assert found.counts["copy"] >= 2
    for cause, count in found.counts.items():
        assert causes.itemText(causes.findData(cause)) == f"{TITLES[cause]} ({count})"
        choose(causes, cause)
        assert listed(page) == set(found.of_cause(cause).tolist())
    pick(causes, 0)
    assert len(listed(page)) == 120


def test_choosing_a_cause_shows_its_first_query_and_work_that_ends_changes_nothing(page, session, run):
    found = found_of(session)
    right = session.workspace.queries(session.evaluation_id)
    other = int(right.sample_ids[right.first_hit == 1][0])
    session.show_query(other)
    choose(page.queries.why.causes, "copy")
    assert session.query == listed_in_order(page)[0]
    assert session.query in found.of_cause("copy")
    session.show_query(other)
    page.browsing.take_failures(found)
    assert session.query == other, "only what the person chooses moves on"


def test_a_suspected_cause_is_marked_and_none_is_not(page):
    card = page.result.explanation
    card.show_why(Why("Hub of another class", "Words.", suspected=True))
    assert (card.title.text(), card.property("card"), card.text()) == (
        "⚠ Hub of another class",
        "doubt",
        "Hub of another class Words.",
    )
    card.show_why(Why("No cause found", "Words."))
    assert (card.title.text(), card.property("card")) == ("No cause found", "true")
    card.show_why(Why("", "At epoch 3 its first hit was at rank 2: won."))
    assert card.title.isHidden()
    assert card.isVisible()
    card.show_why(Why())
    assert card.isHidden()


def test_a_cause_said_before_the_card_is_first_shown_has_room_for_its_words(session, qtbot):
    session.theme.apply()
    card, around = WhyCard(), QWidget()
    qtbot.addWidget(around)
    in_column(card, 1, on=around)
    card.show_why(Why("No cause found", "The nearest neighbour is of another class, at a cosine of 0.995. " * 2))
    around.resize(430, 300)
    with qtbot.waitExposed(around):
        around.show()
    qtbot.waitUntil(lambda: card.words.height() == card.words.heightForWidth(card.words.width()))
    assert not card.words.verticalScrollBar().isVisible()


def test_a_long_explanation_scrolls_where_its_lines_have_no_room(page, qtbot):
    page.result.show_explanation(Why("", "Short."))
    text = page.result.explanation.words
    qtbot.waitUntil(lambda: text.focusPolicy() == Qt.FocusPolicy.NoFocus)
    assert text.verticalScrollBar().maximum() == 0
    page.result.show_explanation(Why("Rare class", "A sentence that is one of very many. " * 60))
    qtbot.waitUntil(lambda: text.verticalScrollBar().maximum() > 0)
    assert text.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded
    assert text.said.height() >= text.said.heightForWidth(text.said.width())
    text.setFocus()
    for _ in range(200):
        qtbot.keyClick(text, Qt.Key.Key_Down)
    assert text.verticalScrollBar().value() == text.verticalScrollBar().maximum(), "read to its end by keys"
    said = text.said.text()
    text.said.setText("one line")
    line = text.said.heightForWidth(400)
    text.said.setText(said)
    assert text.heightForWidth(400) == LINES * line, "no line is cut in two"


def test_cause_class_and_selection_filter_together(page, session, run):
    found = found_of(session)
    choose(page.queries.why.causes, "copy")
    session.select(run.ids[28:40])
    assert listed(page) == set(found.of_cause("copy").tolist()) & set(run.ids[28:40].tolist())
    assert run.ids[30] in listed(page)


def test_a_failed_query_is_explained_with_what_stands_before_it(page, session, run, rest):
    session.show_query(int(run.ids[30]))
    rest()
    said = page.result.explanation.text()
    assert said.startswith("Near-duplicate, other label The nearest neighbour, of class “ant”, is ")
    assert "Its first true neighbour is at rank " in said
    right = session.workspace.queries(session.evaluation_id)
    row = int(np.flatnonzero(right.first_hit == 1)[0])
    session.show_query(int(right.sample_ids[row]))
    rest()
    assert page.result.explanation.isHidden()


def test_missed_neighbours_stand_below_with_their_ranks(page, session, run, qtbot, monkeypatch):
    monkeypatch.setattr("workbench.ui.pages.retrieval.model.browsing.SHOWN", 4)
    session.show_query(int(run.ids[31]))
    standing = found_of(session).standing(int(run.ids[31]), 4, 12)
    shown, total = standing.near, standing.missed
    assert total >= 19
    qtbot.waitUntil(lambda: [card.neighbour for card in page.result.missed.cards] == shown)
    assert page.result.missed.title.text() == f"Missed: {total} of its class behind rank 4, the nearest 12 of them"
    assert page.result.to_missed.text() == f"{total} missed"
    assert page.result.strip.last.text() == str(standing.searched)
    assert not page.result.strip.isHidden()
    before = page.result.area.verticalScrollBar().value()
    page.result.to_missed.click()
    assert page.result.area.verticalScrollBar().value() > before
    qtbot.mouseClick(page.result.missed.cards[2], Qt.MouseButton.LeftButton)
    assert session.query == shown[2].sample_id


def test_the_list_says_what_failed_queries_were_taken_for_and_why(page, session):
    found, model = found_of(session), page.queries.model
    for row, sample_id in enumerate(listed_in_order(page)):
        about, index = found.about(sample_id), model.index(row, 1)
        taken, word = index.data(TAKEN_ROLE), index.data(CAUSE_ROLE)
        if about is None:
            assert (taken, word) == ("", "")
            assert "taken for" not in index.data(Qt.ItemDataRole.AccessibleTextRole)
        else:
            assert (taken, word) == (about.nearest_class, WORDS[about.cause])
            assert f"taken for {about.nearest_class}: {TITLES[about.cause]}" in index.data(
                Qt.ItemDataRole.AccessibleTextRole
            )
    failed = sum(found.counts.values())
    assert (page.queries.every.text(), page.queries.failures.text()) == ("All 120", f"Failures {failed}")
    page.browsing.take_failures(None)
    assert model.index(0, 1).data(TAKEN_ROLE) == "", "what is not known is not said"


def test_the_most_frequent_confusions_stand_at_the_right_and_a_click_lists_their_queries(page, session, qtbot):
    bars, found = page.classes.confusions, found_of(session)
    assert not page.queries.why.mistakes.isHidden(), "a narrow page has a button for them"
    page.resize(1300, 800)
    qtbot.waitUntil(bars.isVisible)
    assert page.queries.why.mistakes.isHidden()
    times = [pair.times for pair in bars.rows.pairs]
    assert times == sorted((pair.times for pair in found.pairs), reverse=True)[:MOST]
    second = bars.rows.index(1, 0)
    qtbot.mouseClick(bars.list.viewport(), Qt.MouseButton.LeftButton, pos=bars.list.visualRect(second).center())
    pair = bars.rows.pairs[1]
    assert listed(page) == set(found.of_pair(pair.label, pair.taken_label).tolist())
    assert bars.list.selectionModel().isSelected(second)
    bars.list.setFocus()
    qtbot.keyClick(bars.list, Qt.Key.Key_Space)
    assert len(listed(page)) == 120, "the second time it lists all"
    assert not bars.list.selectionModel().hasSelection()
    bars.every.click()
    qtbot.waitUntil(page.explaining.dialog.isVisible)
    page.browsing.take_failures(None)
    assert bars.none.isVisible()
    assert bars.rows.rowCount() == 0


def test_won_and_lost_since_another_epoch(page, session, run, qtbot, rest):
    why = page.queries.why
    expected = read_changes(session.workspace, *run.evaluations)
    assert why.differences.isHidden()
    assert why.compare.findData(run.evaluations[1]) < 0, "not with itself"
    choose(why.compare, run.evaluations[0])
    qtbot.waitUntil(why.differences.isVisible)
    assert why.differences.text().startswith(f"Since epoch 1: {len(expected.won)} won, {len(expected.lost)} lost")
    for key, ids in (("won", expected.won), ("lost", expected.lost)):
        choose(why.causes, key)
        assert listed(page) == set(ids.tolist())
        session.show_query(int(ids[0]))
        rest()
        assert page.result.explanation.text().endswith(f": {key}.")
    pick(why.compare, 0)
    assert why.differences.isHidden()
    assert why.causes.findData("won") < 0
    assert len(listed(page)) == 120


def test_another_epoch_is_explained_anew_and_a_comparison_with_itself_is_dropped(page, session, run, qtbot, rest):
    why = page.queries.why
    choose(why.causes, "none")
    choose(why.compare, run.evaluations[0])
    session.show_evaluation(run.evaluations[0])
    rest()
    qtbot.waitUntil(lambda: page.browsing.filters.explained is not None)
    found = found_of(session)
    assert found.evaluation_id == run.evaluations[0]
    assert listed(page) == set(found.of_cause("none").tolist()), "the chosen cause stays"
    assert why.differences.isHidden()
    assert why.compare.currentData() is None
    before = page.browsing.filters.explained
    for evaluation in (run.evaluations[1], run.evaluations[0]):
        session.show_evaluation(evaluation)
        rest()
    assert page.browsing.filters.explained is before, "kept"


def test_confusions_filter_the_list_and_hubs_become_the_query(page, session, qtbot):
    found = found_of(session)
    page.queries.why.mistakes.click()
    dialog = page.explaining.dialog
    qtbot.waitUntil(lambda: dialog.isVisible() and dialog.pairs.rowCount() > 0)
    assert [dialog.pairs.row(place) for place in range(dialog.pairs.rowCount())] == sorted(
        found.pairs, key=lambda pair: pair.times, reverse=True
    )
    dialog.pair_table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    names = [dialog.pairs.index(row, 0).data() for row in range(dialog.pairs.rowCount())]
    assert names == sorted(names)
    pair = dialog.pairs.row(1)
    click_cell(dialog.pair_table, dialog.pairs.index(1, 0), twice=True)
    assert listed(page) == set(found.of_pair(pair.label, pair.taken_label).tolist())
    assert page.queries.why.narrowed.isVisible()
    page.queries.why.narrowed.click()
    assert len(listed(page)) == 120
    dialog.tabs.setCurrentIndex(1)
    assert dialog.hubs.rowCount() == len(found.hubs) > 0
    hub = dialog.hubs.row(0)
    click_cell(dialog.hub_table, dialog.hubs.index(0, 0))
    assert session.query == hub.sample_id
    loader = shared_loader(session)
    dialog.hubs.index(0, 0).data(Qt.ItemDataRole.DecorationRole)
    qtbot.waitUntil(lambda: loader.pixmap(hub.sample_id, 36) is not None)
    dialog.buttons.copy.click()
    assert dialog.hubs.lines()[0].split("\t") == list(dialog.hubs.titles)
    dialog.close()


def test_the_tables_of_confusions_and_hubs_are_told_to_the_window(page, session):
    made = []
    session.part_made.connect(made.append)
    page.queries.why.mistakes.click()
    dialog = page.explaining.dialog
    assert made == [dialog]
    assert [view.objectName() for view in (dialog.pair_table, dialog.hub_table)] == [
        "retrieval-confusions",
        "retrieval-hubs",
    ]
    dialog.close()
    page.queries.why.mistakes.click()
    assert made == [dialog], "it is the same one"
    dialog.close()


def test_a_missing_ranking_is_a_sentence_and_the_list_stays(qtbot, session, run):
    (session.workspace.folder(run.run_id) / "ranking-2.npz").unlink()
    said = []
    session.noticed.connect(said.append)
    session.show_run(run.run_id)
    made = open_page(qtbot, session)
    qtbot.waitUntil(lambda: bool(said))
    assert "ranking-2.npz is missing" in str(said[0])
    assert len(listed(made)) == 120
    qtbot.waitUntil(lambda: "being worked out" not in made.result.explanation.text())
    made.queries.why.mistakes.click()
    pairs = made.explaining.dialog.tabs.currentWidget().findChild(QStackedWidget)
    qtbot.waitUntil(lambda: "could not be computed" in pairs.currentWidget().text())
    made.explaining.dialog.close()


def test_a_person_who_cancels_is_not_left_waiting(qtbot, session, run, monkeypatch):
    def endless(workspace, evaluation_id, progress):
        while True:
            progress("Looking for causes", 1, 4)
            sleep(0.005)

    monkeypatch.setattr("workbench.ui.pages.retrieval.failure_source.explain_failures", endless)
    monkeypatch.setattr("workbench.ui.pages.retrieval.failure_source.QUIET", -1)
    session.show_run(run.run_id)
    made = open_page(qtbot, session)
    session.show_query(int(run.ids[30]))
    at_rest(qtbot, made)
    assert made.result.explanation.title.text().endswith("Looking for the cause…")
    session.activity.items[-1].cancel()
    qtbot.waitUntil(lambda: not made.result.explanation.title.text())
    assert made.result.explanation.text()
    assert made.browsing.filters.explained is None


def test_filters_that_leave_nothing_say_so(page):
    assert page.queries.nothing.isHidden()
    page.queries.failures.click()
    choose(page.queries.why.causes, "rare")
    assert len(listed(page)) == 0
    assert page.queries.nothing.isVisible()


def test_every_cause_has_words():
    from workbench.results.failures import CAUSES

    assert tuple(TITLES) == tuple(TIPS) == tuple(WORDS) == CAUSES
    facts = {
        "first_hit": 5, "distance": "cosine", "nearest": 1, "nearest_class": "dog", "gap": 0.00123, "typical_gap": 0.21,
        "agreed_class": "elk", "votes": 9, "voters": 10, "times": 1040, "wrong_times": 832, "mean_times": 10.0, "r": 1,
        "typical_r": 39.0, "own_proxy": 0.71, "other_proxy": 0.82, "other_proxy_class": "ant",
    }  # fmt: skip
    expected = {
        "copy": ("“dog”", "a cosine of 1.000", "below 0.978"),
        "label": ("9 of its 10", "“elk”"),
        "hub": ("1,040 samples", "10 on average", "832 of them"),
        "rare": ("1 other sample", "39"),
        "proxy": ("Cosine 0.82", "“ant”", "0.71"),
        "none": ("The nearest neighbour is of class “dog”",),
    }
    for cause, parts in expected.items():
        said = evidence(Explanation(cause=cause, also=("rare",), **facts))
        assert all(part in said for part in parts), said
        assert said.endswith("Also: rare class.")
    apart = facts | {"distance": "euclidean", "gap": 0.5}
    assert "“dog”, 0.5 away." in evidence(Explanation(cause="none", also=(), **apart))
    assert "is 0.5 away; for half of all samples it is over 0.21 away" in evidence(
        Explanation(cause="copy", also=(), **apart)
    )


def test_what_stands_before_the_first_hit():
    def near(names):
        return [Neighbour(rank, rank, 0.5, False, 0, name) for rank, name in enumerate(names, start=1)]

    assert before_first_hit(near("a"), 1) == ""
    assert before_first_hit(near("a"), 0) == ""
    said = before_first_hit(near("abaxxxxx"), 4)
    assert said == "Its first true neighbour is at rank 4; before it are 2 of “a”, 1 of “b”."
    said = before_first_hit(near("abcdef"), 2000)
    assert said.startswith("Its first true neighbour is at rank 2,000; before it, among the first 6, are 1 of “a”")
    assert said.endswith("and 2 other classes.")
    assert before_first_hit(near("abcde"), 9).endswith("and 1 other class.")


@pytest.mark.parametrize(
    ("before", "after", "word"), [(3, 1, "won"), (1, 3, "lost"), (1, 1, "right in both"), (2, 9, "wrong in both")]
)
def test_what_became_of_a_query(before, after, word):
    assert changed(before, after, "epoch 2") == f"At epoch 2 its first hit was at rank {before}: {word}."
    assert changed(0, after, "epoch 2") == ""


def test_a_tag_is_put_on_the_query_listed_and_taken_away(page, session, run, qtbot, rest):
    why, result = page.queries.why, page.result
    session.show_query(int(run.ids[30]))
    rest()
    assert result.tags.isHidden()
    page.tagging.put("label wrong", True)
    qtbot.waitUntil(result.tags.isVisible)
    assert result.tags.text() == "Tagged: label wrong"
    session.show_query(int(run.ids[5]))
    rest()
    assert result.tags.isHidden()
    page.tagging.put(" a & b ", True)
    qtbot.waitUntil(lambda: why.causes.findData("tag:a & b") > 0)
    page.tagging.menu.aboutToShow.emit()
    shown = {action.text(): action.isChecked() for action in page.tagging.menu.actions() if action.isCheckable()}
    assert shown == {"a && b": True, "label wrong": False}
    choose(why.causes, "tag:label wrong")
    assert why.causes.currentText() == "Tagged “label wrong” (1)"
    assert listed(page) == {run.ids[30]}
    session.show_query(int(run.ids[30]))
    rest()
    page.tagging.put("label wrong", False)
    qtbot.waitUntil(result.tags.isHidden)
    assert why.causes.currentIndex() == 0
    assert len(listed(page)) == 120


def test_a_table_of_tags_is_read_and_written_and_attributes_have_menus(page, session, run, qtbot, rest, tmp_path):
    said = []
    session.noticed.connect(said.append)
    samples = session.workspace.samples(session.workspace.run(run.run_id).dataset_id)
    path_of = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    table = tmp_path / "tags.csv"
    first, second = int(run.ids[30]), int(run.ids[5])
    lines = ["path,view", f"{path_of[first]},front", f"{path_of[second]},side", "elsewhere.png,front"]
    table.write_text("\n".join(lines), "utf-8")
    session.show_query(first)
    rest()
    page.tagging.import_from(table)
    qtbot.waitUntil(page.result.tags.isVisible)
    assert said == ["Tags stored: 2, of 2 images; rows about images of another data set: 1."]
    assert page.result.tags.text() == "Tagged: view=front"
    assert page.queries.why.causes.findData("tag:view=side") > 0
    page.tagging.menu.aboutToShow.emit()
    (view,) = [action.menu() for action in page.tagging.menu.actions() if action.menu() is not None]
    assert (view.title(), {action.text(): action.isChecked() for action in view.actions()}) == (
        "view", {"front": True, "side": False},
    )  # fmt: skip
    view.actions()[1].trigger()
    qtbot.waitUntil(lambda: page.result.tags.text() == "Tagged: view=side")
    page.tagging.export_to(tmp_path / "out.csv")
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[1] == f"Tags of 2 images written to {tmp_path / 'out.csv'}."
    written = (tmp_path / "out.csv").read_text("utf-8").splitlines()
    assert sorted(written[1:]) == sorted(f"{csv_cell(path_of[sample])},side," for sample in (first, second))


def test_a_table_of_tags_is_undone_and_done_again(page, session, run, qtbot, rest, tmp_path):
    actions = RunActions(session, Commands(session.preferences, page), page)
    workspace, dataset = session.workspace, session.workspace.run(run.run_id).dataset_id
    samples = workspace.samples(dataset)
    path_of = dict(zip(samples.ids.tolist(), samples.paths, strict=True))
    first, second = int(run.ids[30]), int(run.ids[5])
    tag_sample(workspace, dataset, first, "view=back")
    tag_sample(workspace, dataset, second, "view=side")
    before = all_tags(workspace, dataset)
    table = tmp_path / "tags.csv"
    table.write_text(f"path,view\n{path_of[first]},front\n{path_of[second]},side\n", "utf-8")
    session.show_query(first)
    rest()
    page.tagging.import_from(table)
    after = {"view=front": [first], "view=side": [second]}
    qtbot.waitUntil(lambda: page.result.tags.text() == "Tagged: view=front")
    assert (all_tags(workspace, dataset), actions.undo_stack.undoText()) == (after, "tags of tags.csv")
    actions.undo_stack.undo()
    qtbot.waitUntil(lambda: page.result.tags.text() == "Tagged: view=back")
    assert all_tags(workspace, dataset) == before
    actions.undo_stack.redo()
    qtbot.waitUntil(lambda: page.result.tags.text() == "Tagged: view=front")
    steps, said = actions.undo_stack.count(), []
    session.noticed.connect(said.append)
    page.tagging.import_from(table)
    qtbot.waitUntil(lambda: bool(said))
    assert (all_tags(workspace, dataset), actions.undo_stack.count()) == (after, steps)


def test_letters_of_a_tag_that_turn_its_direction_are_shown_in_the_menu_and_the_filter(page, session, run, qtbot, rest):
    session.show_query(int(run.ids[30]))
    rest()
    page.tagging.put("vi\u202eew=fr\u202eont", True)
    qtbot.waitUntil(page.result.tags.isVisible)
    assert page.result.tags.text() == "Tagged: vi\\u202eew=fr\\u202eont"
    causes = page.queries.why.causes
    words = causes.itemText(causes.findData("tag:vi\u202eew=fr\u202eont"))
    assert words.startswith("Tagged “vi\\u202eew=fr\\u202eont”")
    page.tagging.menu.aboutToShow.emit()
    (view,) = [action.menu() for action in page.tagging.menu.actions() if action.menu() is not None]
    assert (view.title(), [action.text() for action in view.actions()]) == ("vi\\u202eew", ["fr\\u202eont"])
    view.actions()[0].trigger()
    qtbot.waitUntil(page.result.tags.isHidden)


def test_map_at_r_if_the_tagged_were_left_out_stands_beside_and_changes_nothing(page, session, run, qtbot, rest):
    why = page.queries.why
    before = session.evaluation().metrics
    assert why.left_out.isHidden()
    session.show_query(int(run.ids[30]))
    rest()
    page.tagging.put("label wrong", True)
    qtbot.waitUntil(lambda: why.causes.findData("tag:label wrong") > 0)
    choose(why.causes, "tag:label wrong")
    why.left_out.click()
    qtbot.waitUntil(lambda: "if the 1 tagged “label wrong”" in why.left_out_said.text())
    expected = without_samples(session.workspace, run.evaluations[1], run.ids[30:31], lambda *told: None)
    assert f"it would be {100 * expected.without:.2f}%" in why.left_out_said.text()
    assert f"MAP@R {100 * before['MAP@R']:.2f}%" in why.left_out_said.text()
    assert session.workspace.evaluation(run.evaluations[1]).metrics == before
    pick(why.causes, 0)
    assert why.left_out_said.isHidden()
    assert why.left_out.isHidden()


def test_a_second_request_without_the_tagged_goes_on_saying_that_it_is_computed(
    page, session, run, qtbot, rest, monkeypatch
):
    session.show_query(int(run.ids[30]))
    rest()
    page.tagging.put("label wrong", True)
    why, gates, begun = page.queries.why, [threading.Event(), threading.Event()], []
    qtbot.waitUntil(lambda: why.causes.findData("tag:label wrong") > 0)
    choose(why.causes, "tag:label wrong")

    def late(*asked):
        number = len(begun)
        begun.append(asked)
        assert gates[number].wait(HANG)
        return without_samples(*asked)

    monkeypatch.setattr(tagging, "without_samples", late)
    for number in range(2):
        why.left_out.click()
        qtbot.waitUntil(lambda number=number: len(begun) == number + 1)
    gates[0].set()
    qtbot.waitUntil(lambda: session.activity.items[-2].state != "working")
    assert why.left_out_said.text() == "Computing…"
    gates[1].set()
    qtbot.waitUntil(lambda: "if the 1 tagged “label wrong”" in why.left_out_said.text())


def test_an_empty_tag_is_a_sentence(page, session, qtbot):
    said = []
    session.noticed.connect(said.append)
    page.tagging.put("  ", True)
    qtbot.waitUntil(lambda: bool(said))
    assert "1 to 80 characters" in str(said[0])
