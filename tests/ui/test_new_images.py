"""New images as a person meets them: suggested by a real process, given classes, undone, kept, saved."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QItemSelectionModel, Qt

from tests.trained_sample import sample_values, trained
from tests.ui.small_run import blobs, store_run
from workbench.labelling.keeping import ANSWERS, Labelling, give, keep, kept
from workbench.labelling.nearest import Threshold
from workbench.labelling.request import Suggested, Suggestion
from workbench.labelling.table import TYPICAL
from workbench.ui.pages.retrieval.new_images.file_pictures import FilePictures
from workbench.ui.pages.retrieval.new_images.known import Known
from workbench.ui.pages.retrieval.new_images.model import ALONE, ANSWERED, GROUPED, NAMED, LabellingModel
from workbench.ui.pages.retrieval.new_images.panel import ASK, MEASURING, ORDERS, SHOWN, NewImagesPanel
from workbench.ui.widgets.dialogs.question import Question

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(3), 4)


def suggestion(path, label="", group=0, similarity=0.5, nearest=0):
    return Suggestion(path, label, group, similarity, "class 0", nearest, "class 1", 0.25)


def suggested(evaluation, folder, images):
    limit = Threshold(0.01, 0.7, 100, 100, (0.5, 0.4, 0.6), (0.9, 0.8, 1.0), None)
    return Suggested(1, evaluation, 1, "cosine", str(folder), 12, 3, limit, "", None, images, [])


IMAGES = [
    suggestion("a.png", "class 0", 0, 0.9), suggestion("b.png", "class 1", 0, 0.8), suggestion("c.png", "", 1),
    suggestion("d.png", "", 1), suggestion("e.png", "", 2), suggestion("f.png", "", 2), suggestion("g.png", "", 0),
]  # fmt: skip


def shown(qtbot, session):
    panel = NewImagesPanel(session)
    qtbot.addWidget(panel)
    panel.resize(1000, 720)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


@pytest.fixture
def run(session, workspace):
    stored = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.5, 1)])
    session.show_run(stored.run_id)
    return stored


@pytest.fixture
def panel(qtbot, session, workspace, run, tmp_path):
    for number, image in enumerate(IMAGES):
        pixels = np.full((8, 8, 3), 30 * number, np.uint8)
        Image.fromarray(pixels).save(tmp_path / image.path)
    first = int(workspace.samples(workspace.run(run.run_id).dataset_id).ids[0])
    images = [suggestion(image.path, image.label, image.group, image.similarity, first) for image in IMAGES]
    keep(workspace, Labelling(suggested(session.evaluation_id, tmp_path, images), {}))
    made = shown(qtbot, session)
    qtbot.waitUntil(lambda: made.currentIndex() == SHOWN)
    return made


def listed(panel):
    return [row.image.path for row in panel.rows.rows]


def test_the_model_lists_answers_and_undoes_each_step():
    model = LabellingModel()
    assert (model.rows, model.undo(), model.answer(["a.png"], "x")) == ([], None, None)
    model.show(Labelling(suggested(1, "x", IMAGES), {}))
    assert [row.image.path for row in model.rows] == [image.path for image in IMAGES]
    assert model.counts() == {"all": 7, NAMED: 2, GROUPED: 4, ALONE: 1, ANSWERED: 0}
    assert model.group_of("c.png") == ["c.png", "d.png"]
    assert model.group_of("a.png") == ["a.png"]
    assert model.group_of("g.png") == ["g.png"]
    assert model.answer(["c.png", "d.png"], "new").before == {"c.png": None, "d.png": None}
    assert model.answer(["c.png", "a.png"], "").after == {"c.png": "", "a.png": ""}
    assert model.answer(["c.png", "a.png"], "") is None, "it changes nothing"
    assert model.counts() == {"all": 7, NAMED: 2, GROUPED: 3, ALONE: 2, ANSWERED: 3}
    assert model.undo().after == {"c.png": "new", "a.png": None}
    assert model.labelling.answers == {"c.png": "new", "d.png": "new"}
    assert model.undo().after == {"c.png": None, "d.png": None}
    assert model.labelling.answers == {}
    assert not model.can_undo


def test_the_group_of_an_image_has_none_of_those_that_were_answered_no_class():
    model = LabellingModel()
    model.show(Labelling(suggested(1, "x", [suggestion(name, "", 1) for name in ("a", "b", "c")]), {}))
    model.answer(["b"], "")
    assert model.group_of("a") == ["a", "c"]
    assert model.group_of("b") == ["a", "b", "c"]


def test_an_answer_that_is_not_stored_is_not_shown_and_one_of_another_window_is():
    model = LabellingModel()
    model.show(Labelling(suggested(1, "x", IMAGES), {"a.png": "old"}))
    first, second = model.answer(["a.png", "b.png"], "new"), model.answer(["c.png"], "other")
    assert model.not_stored(first)
    assert model.labelling.answers == {"a.png": "old", "c.png": "other"}
    assert model.stored(second, {"a.png": "old", "c.png": "other", "g.png": "theirs"})
    assert model.labelling.answers == {"a.png": "old", "c.png": "other", "g.png": "theirs"}
    assert not model.stored(second, model.labelling.answers), "nothing else is shown"
    model.undo()
    assert not model.can_undo, "the answer that was not stored cannot be undone"


def test_the_orders_start_with_the_typical_image_of_the_largest_group_or_with_the_most_typical_of_all():
    places = {"c.png": 3, "d.png": 2, "e.png": 1, "f.png": 5, "g.png": 4}
    images = [replace(image, place=places.get(image.path, 0)) for image in IMAGES]
    model = LabellingModel()
    model.show(Labelling(suggested(1, "x", images), {}))
    assert [row.image.path[0] for row in model.rows] == list("abdcefg")
    model.arrange(TYPICAL)
    assert [row.image.path[0] for row in model.rows] == list("edcgfab")
    model.answer(["e.png"], "")
    assert [row.image.path[0] for row in model.rows] == list("dcgfeab"), "what is answered is not asked again"


def test_a_run_without_a_network_says_why_and_still_shows_what_was_kept(qtbot, session, run, panel):
    assert "has no checkpoint" in panel.ask.sentence.text()
    assert not panel.ask.go.isEnabled()
    assert listed(panel) == [image.path for image in IMAGES]


def test_a_group_gets_one_class_which_is_kept_undone_and_saved(qtbot, session, workspace, panel, tmp_path):
    panel.listed.buttons[GROUPED].click()
    assert listed(panel) == ["c.png", "d.png", "e.png", "f.png"]
    assert [row.image.path for row in panel.chosen] == ["c.png"]
    panel.beside.group.click()
    assert [row.image.path for row in panel.chosen] == ["c.png", "d.png"]
    assert panel.beside.said.text().startswith("2 images are chosen; the first is shown.")
    line = panel.beside.classes.lineEdit()
    line.setText("")
    qtbot.keyClicks(line, "new class")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert listed(panel) == ["e.png", "f.png"]
    assert [row.image.path for row in panel.chosen] == ["e.png"]
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Delete)
    evaluation = session.evaluation_id
    wanted = {"c.png": "new class", "d.png": "new class", "e.png": ""}
    qtbot.waitUntil(lambda: kept(workspace, evaluation).answers == wanted)
    assert panel.listed.buttons[ANSWERED].text() == "Answered 3"
    panel.table_actions.save_to(tmp_path / "list.csv")
    qtbot.waitUntil((tmp_path / "list.csv").exists)
    with (tmp_path / "list.csv").open(encoding="utf-8", newline="") as file:
        labels = {row["path"]: row["label"] for row in csv.DictReader(file)}
    assert labels == {
        "a.png": "class 0", "b.png": "class 1", "c.png": "new class", "d.png": "new class", "e.png": "", "f.png": "",
        "g.png": "",
    }  # fmt: skip
    qtbot.keyClick(panel.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    panel.undo.click()
    assert not panel.undo.isEnabled()
    qtbot.waitUntil(lambda: kept(workspace, evaluation).answers == {})
    assert listed(panel) == ["c.png", "d.png", "e.png", "f.png"]


def test_a_choice_that_lists_no_image_says_so(panel):
    panel.listed.buttons[ANSWERED].click()
    assert panel.nothing.text() == "No image is answered yet."
    assert not panel.nothing.isHidden()
    panel.listed.buttons[GROUPED].click()
    assert panel.nothing.isHidden()


def test_both_pictures_are_shown_and_a_missing_file_says_so(qtbot, panel, tmp_path):
    qtbot.waitUntil(lambda: not panel.beside.new.pixmap().isNull())
    qtbot.waitUntil(lambda: not panel.beside.near.pixmap().isNull())
    (tmp_path / "g.png").unlink()
    panel.listed.buttons[ALONE].click()
    qtbot.waitUntil(lambda: panel.beside.new.text().startswith("g.png cannot be opened"))


def test_answers_are_asked_about_before_another_list_replaces_them(qtbot, session, workspace, panel):
    give(workspace, panel.model.labelling, {"b.png": "class 2"})  # by another window
    panel.suggest()
    qtbot.waitUntil(lambda: bool(panel.window().findChildren(Question)))
    (question,) = panel.window().findChildren(Question)
    assert "with 1 answer of yours" in question.words.text()
    assert "They can be kept, as it is the same folder." in question.words.text()
    question.answers["keep"].click()
    assert panel.currentIndex() == SHOWN
    assert panel.work.newest is None


def test_answers_of_two_windows_are_all_kept_and_shown(qtbot, session, workspace, panel):
    other = kept(workspace, session.evaluation_id)
    give(workspace, other, {"g.png": "theirs", "a.png": "theirs"})
    panel.give("mine")
    wanted = {"a.png": "mine", "g.png": "theirs"}
    qtbot.waitUntil(lambda: panel.model.labelling.answers == wanted)
    assert kept(workspace, session.evaluation_id).answers == wanted
    give(workspace, other, {"a.png": "theirs again"})
    panel.take_back()
    qtbot.waitUntil(lambda: panel.model.labelling.answers == {"a.png": "theirs again", "g.png": "theirs"})


def test_an_answer_that_cannot_be_written_is_said_and_not_shown(qtbot, session, workspace, panel):
    name = ANSWERS.format(session.evaluation_id, panel.model.labelling.name)
    file = workspace.folder(panel.model.labelling.suggested.run) / name
    file.unlink()
    file.mkdir()
    with qtbot.waitSignal(session.noticed) as said:
        panel.give("class 2")
    assert "class 2" not in [row.label for row in panel.rows.rows]
    assert name in str(said.args[0])


def test_an_answer_to_a_list_that_was_replaced_is_refused_and_the_new_list_is_shown(qtbot, session, workspace, panel):
    labelling = panel.model.labelling
    keep(workspace, Labelling(replace(labelling.suggested, images=labelling.suggested.images[:3]), {"b.png": "theirs"}))
    with qtbot.waitSignal(session.noticed) as said:
        panel.give("class 2")
    assert "Another window has made another list" in str(said.args[0])
    qtbot.waitUntil(lambda: sorted(listed(panel)) == ["a.png", "b.png", "c.png"])
    assert panel.model.labelling.answers == {"b.png": "theirs"}


def test_images_apart_from_each_other_are_chosen_again_when_their_answer_is_taken_back(panel):
    selection, flags = panel.table.selectionModel(), QItemSelectionModel.SelectionFlag
    for place in (0, 2, 3, 5):
        selection.select(panel.rows.index(place, 0), flags.Select | flags.Rows)
    chosen = [row.image.path for row in panel.chosen]
    assert len(chosen) == 4
    panel.give("class 2")
    assert [row.image.path for row in panel.chosen] == ["b.png"], "the first that has no answer, not the last"
    panel.take_back()
    assert [row.image.path for row in panel.chosen] == chosen


def test_the_order_is_chosen_and_its_source_is_said(panel):
    panel.order.setCurrentIndex([name for name, *_ in ORDERS].index(TYPICAL))
    assert listed(panel)[0] == "c.png"
    assert "Wei et al., 2015" in panel.order.toolTip()


def test_an_evaluation_before_training_is_refused_before_anything_is_started(qtbot, session, workspace, tmp_path):
    values = sample_values(1)
    values["evaluation"].update(probe_size=0, untrained=True)
    run = trained(workspace, values)
    session.show_run(run)
    session.show_evaluation(workspace.evaluations(run)[0].id)
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: "before training is not kept" in panel.ask.sentence.text())
    assert not panel.ask.go.isEnabled()


def test_a_real_process_suggests_and_a_cancel_leaves_the_question(qtbot, session, workspace, tmp_path):
    values = sample_values(1)
    values["evaluation"].update(probe_size=0, untrained=False)
    session.show_run(trained(workspace, values))
    qtbot.waitUntil(lambda: session.evaluation_id is not None)
    ids, labels, _ = workspace.embeddings(session.evaluation_id)
    pictures = workspace.pictures(session.run().dataset_id)
    for row in range(5):
        Image.fromarray(pictures.thumbnail(int(ids[row]))).save(tmp_path / f"{row}.png")
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: bool(panel.work.newest is None and panel.folder.isEnabled()))
    assert not panel.ask.go.isEnabled()
    panel.folder.take(str(tmp_path / "gone"))
    panel.ask.go.click()
    assert panel.currentIndex() == MEASURING
    qtbot.waitUntil(lambda: panel.currentIndex() == ASK)
    panel.folder.take(str(tmp_path))
    panel.ask.go.click()
    qtbot.waitUntil(lambda: panel.currentIndex() == SHOWN)
    assert [row.label for row in sorted(panel.rows.rows, key=lambda row: row.image.path)] == [
        session.class_name(int(label)) for label in labels[:5]
    ]
    assert "5 of 5 images are given one of 10 classes" in panel.sentence.text()


def test_a_picture_of_another_folder_is_loaded_while_one_of_the_same_name_is_being_loaded(qtbot, session, tmp_path):
    for name, side in (("one", 8), ("two", 16)):
        (tmp_path / name).mkdir()
        Image.fromarray(np.zeros((4, side, 3), np.uint8)).save(tmp_path / name / "a.png")
    pictures = FilePictures(session)
    pictures.open(str(tmp_path / "one"))
    pictures.request(["a.png"], 32)
    pictures.open(str(tmp_path / "two"))
    pictures.request(["a.png"], 32)
    qtbot.waitUntil(lambda: pictures.picture("a.png", 32) is not None)
    assert pictures.picture("a.png", 32).width() == 4 * pictures.picture("a.png", 32).height()


def test_a_class_whose_name_has_a_line_break_is_given_as_it_is(qtbot, session, panel):
    labelling = panel.model.labelling
    image = replace(IMAGES[0], nearest_class="cat\none", label="")
    shown = replace(labelling, suggested=replace(labelling.suggested, images=[image]))
    panel.show_known(Known(shown, {}, ["cat\none", "dog"], "", ""))
    panel.beside.give.click()
    assert [row.label for row in panel.rows.rows] == ["cat\none"]
