"""The Set up page on a small catalog: presets, errors, changes, undo, repairs, files, start, and Preflight."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QUndoStack
from PySide6.QtTest import QTest

from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.running.facts.disk_use import DiskUse
from workbench.running.preflight import Preflight
from workbench.settings.field_words import title_of
from workbench.settings.presets import presets
from workbench.ui.pages.setup import SetupPage, config_files
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.fields import GROUPS
from workbench.ui.pages.setup.model.verdict import judged
from workbench.ui.pages.setup.preflight import runner as preflights
from workbench.ui.state.commands import Commands
from workbench.ui.state.undo import Reversible, UndoCommands
from workbench.ui.style.words import THIN

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


def entry(title, params=None, **facts):
    return {"title": title, "help": f"{title}.", "source": "A paper, eq. 1", "facts": facts, "params": params or {}}


def field(default, kind="number", **more):
    return {"type": kind, "default": default, "description": "What it does.", **more}


FOLDER = {"folder": field("", "string", path="folder")}
SIZE = {"image_size": field(64, "integer", minimum=8, maximum=512, unit="px")}
WEIGHTS = {
    "weights": {**field("none", "string"), "enum": ["none", "file"]},
    "weights_file": field("", "string", path="file", optional=True),
}
CATALOG = {
    "dataset/digits": entry("Digits"),
    "dataset/mnist": entry("MNIST", FOLDER),
    "dataset/omniglot": entry("Omniglot", FOLDER),
    "dataset/folder": entry("Folder per class", FOLDER | SIZE),
    "split/random": entry("Random", {"test_share": field(0.2, exclusiveMinimum=0, exclusiveMaximum=1)}),
    "split/official": entry("Official"),
    "split/classes": entry("Unseen classes", classes_disjoint=True),
    "backbone/conv4": entry("Small CNN"),
    "backbone/squeezenet1_0": entry("SqueezeNet", WEIGHTS),
    "loss/ce": entry("CE", {"dropout": field(0.5, minimum=0), "label_smoothing": field(0.1, minimum=0)}),
    "loss/contrastive": entry(
        "Contrastive",
        {"margin": field(0.5, minimum=0, symbol="m"), "reduction": field("active", "string", enum=["active", "paper"])},
        needs_pairs=True,
    ),
    "loss/ccp": entry(
        "CCP",
        {"proxies": field(8, "integer"), "pool": field(12, "integer")},
        needs_pairs=True,
        defaults={"digits": {"pool": 9, "training.batch_size": 8}},
        defaults_source="A paper",
    ),
    "loss/psce": entry(
        "PSCE",
        {"prototypes": field("auto", "string", enum=["auto", "canonical", "simplex", "repelling"])},
        dimensions={"of": "prototypes", "canonical": [0, 0], "simplex": [-1, None], "repelling": [None, -2]},
    ),
    "backbone/preact_resnet20": entry("ResNet-20"),
    "sampler/random": entry("Random"),
    "sampler/classes_images": entry(
        "Classes x images", {"images_per_class": field(4, "integer", minimum=2)}, images_of_class="images_per_class"
    ),
    "augmentation/none": entry("None", changes=False),
    "augmentation/shift": entry("Shift"),
    "augmentation/crop_flip": entry("Crop and flip", {"smallest_area": field(0.16, minimum=0, maximum=1)}),
}
FOUND = {
    "images": 1797, "classes": 10, "train": 1437, "test": 360, "train_classes": 10, "test_classes": 10,
    "classes_disjoint": False, "image_size": 8, "device": "CPU", "parameters": 1234, "steps_per_epoch": 45,
    "seconds_per_step": 0.01, "seconds_per_epoch": 0.45, "seconds": 3.6, "memory_bytes": 2**29, "note": "",
    "probe_images": 2048, "probe_every": 50, "probe_share": 0.194, "gpus": [], "features": 64, "licence": "",
    "kept": "centre squares of pixels (0.12 MB)", "bound": "network", "images_per_step": 32,
    "sample_pictures": [np.zeros((8, 8, 3), np.uint8)] * 5, "augmented": [np.zeros((6, 6, 3), np.uint8)] * 6,
    "problems": [("a/b.png", "is empty")], "left_out": 1,
    "notes": [("2 classes", "have one image each: nothing can match it (a, b)")],
    "unlike_published": [("digits", "was published with 1,800 images and has 1,797 here: 3 are missing")],
}  # fmt: skip
ASIDES = {
    "dataset.name": f"1,797 images · 10 classes · 8{THIN}×{THIN}8{THIN}px",
    "split.name": "same classes in both sets",
    "backbone.name": "1,234 weights",
    "training.epochs": "45 steps",
}


@pytest.fixture
def looked(monkeypatch):
    """Configs that Preflight was asked about; it answers at once, or raises what `looked.problem` holds."""
    seen = SimpleNamespace(configs=[], problem=None)

    def preflight(config, progress, cancelled, counted):
        progress("Looking", 0, 0)
        seen.configs.append(config)
        counted(FOUND["train_classes"])
        if seen.problem is not None:
            raise seen.problem
        return Preflight(**FOUND)

    monkeypatch.setattr("workbench.running.preflight.preflight", preflight)
    monkeypatch.setattr(preflights, "SETTLES_AFTER", 50)
    return seen


@pytest.fixture
def page(session, qtbot, looked):
    session.set_catalog(CATALOG)
    made = qtbot.addWidget(SetupPage(session))
    made.resize(1200, 760)
    made.show()
    yield made
    made.runner.drop()


@pytest.fixture
def runs(page, session):
    """The steps of the list of runs; Ctrl+Z and Ctrl+Shift+Z are the window's, as they follow the page."""
    stack = QUndoStack(page)
    UndoCommands(Commands(session.preferences, page), page, stack).follow(page)
    return stack


def row(page, path):
    return page.groups.row(path)


def in_sight(widget):
    return widget.visibleRegion().boundingRect().height() == widget.height() > 0


def found_images(page):
    """Whether Preflight has counted the images."""
    return row(page, "dataset.name").aside.text().startswith("1,797 images")


def samples(page):
    return page.groups.parts.strip.samples.pictures


def typed(page, path, text):
    editor = row(page, path).widget
    editor.selectAll()
    QTest.keyClicks(editor, text)


def choose(page, path, value):
    editor = row(page, path).widget
    editor.setCurrentIndex(editor.findData(value))
    editor.activated.emit(editor.currentIndex())


def take_preset(page, key):
    page.chooser.setCurrentIndex(page.chooser.findData(key))
    page.chooser.activated.emit(page.chooser.currentIndex())


def test_every_preset_can_start_once_its_data_is_named():
    known = catalog.current()
    for preset in presets():
        draft = Draft(known, preset.config)
        verdict = judged(draft, None)
        assert verdict.config is not None, verdict.trouble
        assert verdict.config.training == preset.config.training
        assert verdict.config.loss.name == preset.config.loss.name
        assert draft.changed() == []


def test_a_preset_of_each_data_set_fills_the_form(session, qtbot, looked):
    """Those of the other losses have no other rows; test_setup_entries.py has every entry drawn."""
    session.set_catalog(catalog.current())
    page = qtbot.addWidget(SetupPage(session))
    chosen = {preset.config.dataset.name: preset for preset in presets()}
    assert len(chosen) > 3
    for preset in chosen.values():
        take_preset(page, preset.key)
        assert page.config is not None, page.beside.trouble.text()
        assert page.config.training == preset.config.training
        assert page.config.loss.name == preset.config.loss.name
        assert row(page, "training.lr").widget.text() == str(preset.config.training.lr)
        assert preset.summary[:20] in page.summary.text()
        assert page.chooser.currentText() == preset.title
        assert not any(row(page, path).dot.text() for path in page.draft.paths())


def test_a_wrong_value_is_explained_and_start_is_off(page):
    for path, text, sentence in (
        ("training.lr", "0", "Must be more than 0."),
        ("training.lr", "fast", "Must be a number."),
        ("training.epochs", "1.5", "Must be a whole number."),
        ("loss.dropout", "-1", "Must be 0 or more."),
        ("split.test_share", "1", "Must be less than 1."),
        ("seed", "-1", "Must be 0 or more."),
    ):
        assert page.start.isEnabled()
        typed(page, path, text)
        assert row(page, path).error.text() == sentence
        assert row(page, path).error.isVisibleTo(page)
        assert not page.start.isEnabled()
        assert sentence in page.start.toolTip()
        fields = {path: field for heading in GROUPS for path, field in page.draft.fields(heading).items()}
        title = title_of(path, fields[path])
        assert page.beside.trouble.text() == f"1 field must be changed: {title}.", "the sentence is at the field"
        assert not page.beside.save.isEnabled()
        page.undo.click()
        assert page.start.isEnabled()
        assert row(page, path).error.text() == ""


def test_a_decimal_comma_is_explained_and_becomes_a_point_by_one_click(page):
    typed(page, "training.lr", "0,0005")
    assert row(page, "training.lr").error.text() == "Must be a number with a point, not a comma: 0.0005."
    assert page.beside.mend.text() == "Use 0.0005"
    page.beside.mend.click()
    assert page.draft.value("training.lr") == 0.0005
    assert page.start.isEnabled()
    typed(page, "training.epochs", "1,5")
    assert row(page, "training.epochs").error.text() == "Must be a whole number."
    assert not page.beside.mend.isVisibleTo(page), "1.5 would be refused as well"


def test_wrong_values_of_different_parts_are_all_explained_at_once(page):
    typed(page, "training.lr", "x")
    typed(page, "loss.dropout", "-3")
    assert row(page, "training.lr").error.text()
    assert row(page, "loss.dropout").error.text()
    assert page.beside.trouble.text() == "2 fields must be changed: Dropout, Learning rate."
    page.beside.show_trouble.click()
    assert page.groups.focusWidget() is row(page, "loss.dropout").widget


def test_changed_fields_are_marked_counted_and_reset(page):
    typed(page, "training.lr", "0.5")
    assert row(page, "training.lr").dot.text() == "●"
    assert page.summary.text().startswith("1 changed. ")
    assert page.config.training.lr == 0.5
    row(page, "training.lr").reset.click()
    assert page.config.training.lr == presets()[0].config.training.lr
    assert row(page, "training.lr").dot.text() == ""


def test_another_loss_brings_its_own_fields_and_the_old_ones_back(page):
    typed(page, "loss.dropout", "0.25")
    choose(page, "loss.name", "contrastive")
    assert page.draft.values["loss"] == {"name": "contrastive", "margin": 0.5, "reduction": "active"}
    assert row(page, "loss.margin").dot.text() == "", "a default of another loss is no change"
    assert row(page, "loss.name").dot.text() == "●"
    assert "A paper, eq. 1" in row(page, "loss.margin").help.toolTip()
    choose(page, "loss.name", "ce")
    assert page.draft.values["loss"]["dropout"] == 0.25


def test_an_impossible_combination_has_a_sentence_and_a_fix(page):
    choose(page, "loss.name", "contrastive")
    sampler = row(page, "sampler.name")
    assert "several images of a class in a batch" in sampler.error.text()
    assert not page.start.isEnabled()
    assert sampler.fix.text() == "Use Classes x images"
    sampler.fix.click()
    assert page.config.sampler == Choice(name="classes_images", params={"images_per_class": 4})
    assert page.start.isEnabled()
    assert not page.beside.mend.isVisibleTo(page), "nothing is left to mend"


def test_an_impossible_combination_is_mended_beside_start(page):
    choose(page, "loss.name", "contrastive")
    assert page.beside.mend.isVisibleTo(page)
    assert page.beside.mend.text() == "Use Classes x images"
    page.beside.mend.click()
    assert page.config.sampler == Choice(name="classes_images", params={"images_per_class": 4})
    assert page.start.isEnabled()
    assert not page.beside.mend.isVisibleTo(page)
    page.steps.undo()
    assert not page.start.isEnabled(), "the mend is one edit, and can be undone"


def test_published_values_are_told_below_the_loss_and_taken_by_a_click(page, qtbot, runs):
    choose(page, "loss.name", "ccp")
    assert page.groups.defaults.text() == "Published for Digits: Pool = 9, Batch = 8 (A paper)."
    assert page.draft.value("loss.pool") == 9, "a parameter of the loss is taken by itself"
    assert not page.groups.offers["measured"].isVisible()
    offer = page.groups.offers["published"]
    page.groups.ensureWidgetVisible(offer)
    QTest.mouseClick(offer, Qt.MouseButton.LeftButton)
    assert page.draft.value("training.batch_size") == 8
    assert not offer.isVisible()
    QTest.keyClick(page, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.draft.value("training.batch_size") != 8
    choose(page, "loss.name", "ce")
    assert not page.groups.defaults.isVisible()


def test_undo_and_redo_go_through_all_fields_in_order(page, runs):
    first = dict(page.draft.values)
    typed(page, "training.epochs", "12")
    choose(page, "loss.name", "contrastive")
    take_preset(page, "omniglot-unseen")
    after = page.draft.values
    for _ in range(3):
        QTest.keyClick(page, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.draft.values == first, "typing 12 is one step"
    assert not page.undo.isEnabled()
    assert page.chooser.currentText() == presets()[0].title
    for _ in range(3):
        page.redo.click()
    assert page.draft.values == after
    assert not page.redo.isEnabled()


def test_a_new_run_begins_with_the_preset_and_undo_restores_what_was_changed(page, session):
    first = dict(page.draft.values)
    typed(page, "training.epochs", "12")
    choose(page, "loss.name", "contrastive")
    changed, said = page.draft.values, []
    session.said.connect(lambda problem, *_: said.append(str(problem)))
    session.new_run_asked.emit()
    assert page.draft.values == first
    assert said == ["New run: 2 fields went back to the preset. Undo restores the previous settings."]
    page.steps.undo()
    assert page.draft.values == changed
    page.steps.redo()
    session.new_run_asked.emit()
    assert len(said) == 1, "nothing was changed"


def test_the_description_of_a_preset_is_not_shown_beside_another_data_set(page):
    described = page.summary.text()
    choose(page, "dataset.name", "mnist")
    assert page.summary.text().endswith("The data set is not that of the preset: its description does not apply.")
    choose(page, "dataset.name", "digits")
    assert page.summary.text() == described


def test_a_weights_file_that_is_not_read_is_read_by_one_click(page, tmp_path):
    choose(page, "backbone.name", "squeezenet1_0")
    page.groups.edited.emit("backbone.weights_file", str(tmp_path / "weights.pth"))
    warned = row(page, "backbone.weights_file")
    assert "not read" in warned.error.text()
    assert warned.fix.text() == "Use the file"
    warned.fix.click()
    assert page.draft.value("backbone.weights") == "file"
    assert not warned.fix.isVisible()


def test_the_file_of_weights_is_asked_for_where_weights_of_a_file_are_chosen(page):
    choose(page, "backbone.name", "squeezenet1_0")
    assert "backbone.weights_file" in page.draft.advanced()["Backbone"]
    choose(page, "backbone.weights", "file")
    essential = list(page.draft.essential())
    assert essential[essential.index("backbone.weights") + 1] == "backbone.weights_file"
    assert page.groups.forms["Essentials"].isAncestorOf(row(page, "backbone.weights_file"))
    choose(page, "backbone.weights", "none")
    assert "backbone.weights_file" not in page.draft.essential()
    assert row(page, "backbone.weights_file").isVisible(), "Advanced has it again"


def test_ctrl_z_undoes_the_step_that_was_made_last_in_the_form_or_on_a_run(page, runs):
    first, done = page.draft.value("training.epochs"), []
    typed(page, "training.epochs", "12")
    step = Reversible("move of “A” to the trash", lambda _: done.append("again"), lambda _: done.append("back"), list)
    runs.push(step)
    typed(page, "training.batch_size", "9")
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    steps = []
    for keys in [Qt.KeyboardModifier.ControlModifier] * 3 + [both] * 3:
        QTest.keyClick(page, Qt.Key.Key_Z, keys)
        steps.append((page.draft.value("training.epochs"), page.draft.value("training.batch_size"), list(done)))
    batch = presets()[0].config.training.batch_size
    assert steps[:3] == [(12, batch, []), (12, batch, ["back"]), (first, batch, ["back"])]
    assert steps[3:] == [(12, batch, ["back"]), (12, batch, ["back", "again"]), (12, 9, ["back", "again"])]


def test_ctrl_z_inside_a_field_undoes_the_edit_of_the_page(page, runs):
    typed(page, "training.epochs", "12")
    editor = row(page, "training.epochs").widget
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.text() == str(presets()[0].config.training.epochs)


def test_the_command_names_the_preset_or_a_file_with_the_changes(page, session):
    page.beside.copy.click()
    folder = session.workspace.path
    assert QGuiApplication.clipboard().text() == f"workbench run sample-digits --workspace {folder}"
    typed(page, "training.epochs", "2")
    page.beside.copy.click()
    words = QGuiApplication.clipboard().text().split()
    assert words[:2] == ["workbench", "run"]
    written = RunConfig.from_toml_text(Path(words[2]).read_text("utf-8"), known=CATALOG)
    assert written == page.config
    assert written.training.epochs == 2


def test_a_config_is_saved_and_opened(page, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.entries.catalog.current", lambda: CATALOG)
    path = str(tmp_path / "mine.toml")
    monkeypatch.setattr("workbench.ui.widgets.dialogs.save_file.QFileDialog.getSaveFileName", lambda *all: (path, ""))
    monkeypatch.setattr("workbench.ui.pages.setup.config_files.QFileDialog.getOpenFileName", lambda *all: (path, ""))
    typed(page, "training.lr", "0.25")
    page.beside.save.click()
    qtbot.waitUntil(Path(path).exists)
    take_preset(page, "omniglot-unseen")
    page.beside.open.click()
    assert page.config.training.lr == 0.25
    assert page.chooser.currentText() == "Sample: Digits, learning rate 0.25 (opened)"
    assert row(page, "training.lr").dot.text() == "", "changes are measured against the file"


def test_a_bad_config_file_is_one_sentence_and_nothing_is_lost(page, session, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.entries.catalog.current", lambda: CATALOG)
    path = tmp_path / "bad.toml"
    path.write_text("[training]\nepochs = 0\n", "utf-8")
    monkeypatch.setattr(
        "workbench.ui.pages.setup.config_files.QFileDialog.getOpenFileName", lambda *all: (str(path), "")
    )
    before = page.draft.values
    with qtbot.waitSignal(session.noticed) as caught:
        page.beside.open.click()
    assert "training.epochs: Must be 1 or more." in str(caught.args[0])
    assert page.draft.values == before
    page.config.to_toml(path)
    with qtbot.waitSignal(session.settled) as caught:  # the message about the file before goes
        page.beside.open.click()
    assert caught.args == [session.here()]


def test_an_offered_config_is_shown(page, session):
    offered = RunConfig(name="My cats", dataset=Choice(name="folder", params={"folder": "/cats"}))
    session.config_offered.emit(offered)
    assert row(page, "dataset.folder").editor.value() == "/cats"
    assert page.draft.value("dataset.image_size") == 64
    assert page.chooser.currentText() == "My cats (opened)"


def test_the_advice_to_choose_weights_stays_until_they_are_chosen_and_nothing_moves_when_a_reason_goes(page, session):
    session.config_offered.emit(RunConfig(name="My cats", split=Choice(name="random")))
    advice = "No weights were found: choose SqueezeNet and its weights. " + "They were looked for everywhere. " * 12
    session.config_explained.emit({"split.name": "Too few classes.", "backbone.weights": advice})
    height = page.summary.heightForWidth(page.summary.width())
    assert height > 2 * page.summary.fontMetrics().height()
    choose(page, "backbone.name", "squeezenet1_0")
    assert advice.strip() in page.summary.text()
    choose(page, "backbone.weights", "file")
    assert "No weights" not in page.summary.text()
    choose(page, "split.name", "official")
    assert page.summary.text() == "3 changed. The proposed fields were changed."
    assert page.summary.heightForWidth(page.summary.width()) == height
    choose(page, "backbone.name", "conv4")
    assert advice.strip() in page.summary.text()
    take_preset(page, page.chooser.presets[0].key)
    assert not page.summary.hasHeightForWidth()


def test_a_proposal_says_why_and_can_be_undone(page, session):
    typed(page, "training.lr", "0.5")
    session.config_offered.emit(RunConfig(name="My cats", split=Choice(name="random")))
    session.config_explained.emit({"split.name": "Three classes are too few to hold some out."})
    assert page.summary.text().startswith("Proposed: Three classes are too few to hold some out. Undo restores")
    described = {path: field for group in GROUPS for path, field in page.draft.fields(group).items()}
    assert described["split.name"]["source"] == "Three classes are too few to hold some out."
    choose(page, "split.name", "official")
    assert "Three classes" not in page.summary.text(), "the person chose another"
    page.undo.click()
    page.undo.click()
    assert page.draft.value("training.lr") == 0.5
    assert "Three classes" not in page.summary.text()
    page.redo.click()
    assert "Three classes" in page.summary.text()


def test_a_long_proposal_is_read_to_its_end(page, session, qtbot):
    session.config_offered.emit(RunConfig(name="My cats", split=Choice(name="random")))
    reason = f"No weights were found in {', '.join(f'/a/long/folder/of/number/{n}' for n in range(20))}: choose some."
    session.config_explained.emit({"split.name": reason})
    qtbot.waitUntil(lambda: len(page.summary.written()) > 4)
    assert page.summary.written()[-1].endswith("Undo restores the previous settings.")
    line = page.summary.fontMetrics().lineSpacing()
    qtbot.waitUntil(lambda: page.summary.height() >= len(page.summary.written()) * line)
    take_preset(page, page.chooser.presets[0].key)
    qtbot.waitUntil(lambda: page.summary.height() < 3 * line)


def test_a_long_line_of_what_was_left_out_is_broken(page, qtbot):
    why = "is not read, since it has more pixels than any picture of this data set may have, by far"
    qtbot.waitUntil(lambda: found_images(page))
    page.card.show_result(Preflight(**FOUND | {"problems": [("a.png", why), ("b.png", "is empty")]}), {})
    page.strip.unfold.setChecked(True)
    page.resize(900, 700)
    page.card.unfold.setChecked(True)
    qtbot.deliver()
    lines = page.card.left_out
    first, second = (lines.visualItemRect(lines.item(row)) for row in range(2))
    assert first.width() <= lines.viewport().width()
    assert first.height() > 2 * second.height()


def test_an_unknown_name_from_a_file_is_explained_at_its_field(page, session):
    session.config_offered.emit(RunConfig(loss=Choice(name="magic", params={"power": 9})))
    assert "There is no loss named 'magic'" in row(page, "loss.name").error.text()
    assert not page.start.isEnabled()


def test_start_makes_the_run_and_shows_it(page, session, qtbot, monkeypatch):
    started = []

    def start(config, then):
        started.append(config)
        then()

    monkeypatch.setattr(session, "start", start)
    typed(page, "name", "First")
    with qtbot.waitSignal(session.page_asked) as caught:
        QTest.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert caught.args == ["train"]
    assert [config.name for config in started] == ["First"]
    typed(page, "training.lr", "x")
    QTest.keyClick(page, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(started) == 1, "nothing starts while a field is wrong"


def test_a_workspace_that_refuses_is_said(page, session, qtbot, monkeypatch):
    def refuse(config, workspace):
        raise Problem("The disk is full.")

    monkeypatch.setattr("workbench.running.folds_and_seeds.prepare", refuse)
    with qtbot.waitSignal(session.noticed) as caught:
        page.start.click()
    assert str(caught.args[0]) == "The disk is full."


def test_preflight_looks_once_the_config_settles_and_the_newest_wins(page, looked, qtbot):
    qtbot.waitUntil(lambda: bool(looked.configs) and not page.runner.waiting_or_working)  # the look at the page's start
    looked.configs.clear()
    for epochs in ("2", "3", "4"):
        typed(page, "training.epochs", epochs)
    qtbot.waitUntil(lambda: bool(looked.configs) and not page.runner.waiting_or_working)
    assert found_images(page)
    assert page.card.facts["Images"].text() == "kept as centre squares of pixels (0.12\u202fMB)"
    assert page.card.facts["Epoch"].text() == f"under 1{THIN}s; limited by the network"
    assert page.card.facts["Backbone"].text() == "64 features"
    assert page.card.time.accessibleName() == f"Time: 4{THIN}s, + evaluations"
    assert page.card.speed.accessibleName() == f"Speed: 3,200 img/s, 10{THIN}ms per step"
    assert [config.training.epochs for config in looked.configs] == [4]
    assert {path: row(page, path).aside.text() for path in ASIDES} == ASIDES
    halves = page.groups.parts.split
    assert (halves.train.text(), halves.test.text()) == ("1,437 train, 10 classes", "360 test, 10 classes")
    assert halves.isVisible()
    assert page.card.facts["Probe"].text() == "2,048 images every 50 steps, about 19% of the training time"
    assert [picture.isVisible() for picture in samples(page)] == [True] * 5 + [False] * 7
    assert page.card.augmented_words.isVisible()
    assert page.card.augmented.pictures[5].isVisible()
    assert page.card.unfold.text() == "1 file left out"
    page.card.unfold.click()
    assert page.card.left_out.item(0).text() == "a/b.png: is empty"
    assert page.card.left_out.count() == 1
    assert page.card.unlike.isVisible()
    assert page.card.unlike.text().splitlines() == [
        "Differs from the published counts:",
        "Digits was published with 1,800 images and has 1,797 here: 3 are missing.",
    ]
    assert page.card.worth_knowing.text().splitlines() == [
        "Notes on the data (no image is left out because of them):",
        "2 classes have one image each: nothing can match it (a, b).",
    ]
    first = page.card.facts["Memory"].y()
    for attention in (page.card.unfold, page.card.left_out, page.card.unlike, page.card.worth_knowing):
        assert attention.y() < first, attention.accessibleName()
    assert page.card.left_out.item(0).toolTip() == "a/b.png: is empty"
    page.card.show_idle("")
    assert not page.card.unlike.isVisible()
    assert not page.card.worth_knowing.isVisible()


def test_the_numbers_of_other_data_go_at_once_and_those_of_the_same_stay(page, looked, qtbot, tmp_path, monkeypatch):
    qtbot.waitUntil(lambda: found_images(page))
    monkeypatch.setattr(preflights, "SETTLES_AFTER", 100_000)
    typed(page, "training.epochs", "4")
    assert found_images(page)
    page.take_config(RunConfig(dataset=Choice(name="folder", params={"folder": str(tmp_path)})))
    assert not found_images(page)
    assert not samples(page)[0].isVisible()
    assert not page.groups.parts.split.isVisible()
    assert page.groups.parts.strip.look.isVisible(), "the data may say what is wrong"
    assert page.card.state.isVisible()


def test_nothing_of_preflight_is_cut_where_its_column_is_narrow(page, looked, qtbot):
    qtbot.waitUntil(lambda: page.card.augmented.pictures[-1].isVisible())
    page.strip.unfold.setChecked(True)
    page.resize(800, 400)  # the card scrolls, which takes room, too
    qtbot.waitUntil(lambda: page.card.width() <= page.beside.width())
    assert page.card.minimumSizeHint().width() <= page.beside.width()


def test_what_preflight_finds_impossible_turns_start_off_until_something_changes(page, looked, qtbot):
    looked.problem = Problem("The folder is empty.", todo="Choose another.")
    typed(page, "training.epochs", "3")
    qtbot.waitUntil(lambda: page.card.problem.isVisible())
    assert "The folder is empty." in page.card.problem.text()
    assert not page.start.isEnabled()
    assert "The folder is empty." in page.start.toolTip()
    looked.problem = None
    page.card.check.click()
    qtbot.waitUntil(lambda: page.start.isEnabled() and not page.card.problem.isVisible())


def test_a_size_that_does_not_go_with_the_classes_is_refused_at_its_field_once_they_are_known(page, looked, qtbot):
    qtbot.waitUntil(lambda: page.draft.classes == 10)
    seen = len(looked.configs)
    choose(page, "loss.name", "psce")
    typed(page, "embedding.dim", "4")
    assert page.start.isEnabled(), "auto goes with any size"
    choose(page, "loss.prototypes", "canonical")
    size = row(page, "embedding.dim")
    assert size.error.text() == "Canonical prototypes of 10 classes need 10 dimensions, not 4."
    assert size.error.isVisibleTo(page)
    assert not page.start.isEnabled()
    assert "need 10 dimensions" in page.start.toolTip()
    assert len(looked.configs) == seen, "no second look was needed"
    choose(page, "loss.prototypes", "simplex")
    assert size.error.text() == "Simplex prototypes of 10 classes need 9 or more dimensions, not 4."
    assert size.fix.text() == "Use 9"
    page.groups.ensureWidgetVisible(size)
    QTest.mouseClick(size.fix, Qt.MouseButton.LeftButton)
    assert page.config.embedding.dim == 9
    assert page.start.isEnabled()
    choose(page, "loss.prototypes", "repelling")
    assert size.error.text() == "Repelling prototypes of 10 classes need 8 or fewer dimensions, not 9."


def test_the_first_look_refuses_a_wrong_size_at_its_field(page, session, looked, qtbot):
    chosen = Choice(name="psce", params={"prototypes": "canonical"})
    session.config_offered.emit(RunConfig(loss=chosen))
    qtbot.waitUntil(lambda: row(page, "embedding.dim").error.text() != "")
    assert "need 10 dimensions, not 100" in row(page, "embedding.dim").error.text()
    assert page.config is None
    assert not page.start.isEnabled()


def test_what_preflight_finds_wrong_in_a_field_stands_beside_it(page, looked, qtbot):
    looked.problem = Problem("The size does not fit.", todo="Take 10.", field="embedding.dim")
    typed(page, "embedding.dim", "0")
    qtbot.waitUntil(lambda: page.card.problem.isVisible())
    assert row(page, "embedding.dim").error.text() == "The size does not fit. Take 10."
    size = "Embedding size"
    said = [page.card.problem.text(), page.beside.trouble.text()]
    assert said == [f"Preflight stopped. The reason is at the field {size}.", f"1 field must be changed: {size}."]
    assert not page.start.isEnabled()
    looked.problem = None
    page.card.check.click()
    qtbot.waitUntil(lambda: page.start.isEnabled() and not page.card.problem.isVisible())
    assert row(page, "embedding.dim").error.text() == ""


def test_a_place_that_is_not_chosen_or_not_there_is_refused_at_once(page, session, tmp_path, monkeypatch):
    monkeypatch.setattr(type(session), "busy", True)  # no preflight comes to find it out
    choose(page, "dataset.name", "folder")
    assert row(page, "dataset.folder").error.text() == "Choose a folder."
    assert not page.start.isEnabled()
    assert not page.sweep.isEnabled()
    assert page.beside.save.isEnabled(), "the data may lie on another machine"
    page.groups.edited.emit("dataset.folder", str(tmp_path / "none"))
    assert row(page, "dataset.folder").error.text().startswith("There is no ")
    page.groups.edited.emit("dataset.folder", str(tmp_path))
    assert row(page, "dataset.folder").error.text() == ""
    assert page.start.isEnabled()


def test_the_start_cards_are_told_when_a_folder_is_chosen(page, session, tmp_path, monkeypatch):
    monkeypatch.setattr(type(session), "busy", True)
    chosen = []
    session.data_chosen.connect(lambda: chosen.append(True))
    choose(page, "dataset.name", "folder")
    page.groups.edited.emit("dataset.folder", str(tmp_path / "none"))
    page.groups.edited.emit("dataset.image_size", 48)
    assert not chosen
    page.groups.edited.emit("dataset.folder", str(tmp_path))
    assert chosen


def test_preflight_is_taken_up_when_the_run_has_ended(page, session, looked, qtbot, monkeypatch):
    monkeypatch.setattr(type(session), "busy", True)
    typed(page, "training.epochs", "3")
    qtbot.waitUntil(page.card.check.isVisible)
    looked.configs.clear()
    monkeypatch.setattr(type(session), "busy", False)
    session.run_ended.emit(1, "done")
    qtbot.waitUntil(lambda: bool(looked.configs))
    qtbot.waitUntil(lambda: not page.runner.waiting_or_working)
    assert "A run is training" not in page.card.state.text()


@pytest.mark.parametrize("held", [False, True], ids=["waiting", "held"])
def test_a_check_that_a_start_dropped_begins_again(page, session, looked, qtbot, monkeypatch, held):
    qtbot.waitUntil(lambda: bool(looked.configs) and not page.runner.waiting_or_working)
    monkeypatch.setattr(type(session), "busy", True)
    monkeypatch.setattr(session, "add_runs", lambda configs, then, failed: then([1]))
    typed(page, "training.epochs", "3")
    if held:
        qtbot.waitUntil(page.card.check.isVisible)
    page.start.click()
    page.hide()
    monkeypatch.setattr(type(session), "busy", True)
    page.show()
    qtbot.waitUntil(page.card.check.isVisible)
    looked.configs.clear()
    monkeypatch.setattr(type(session), "busy", False)
    session.run_ended.emit(1, "done")
    qtbot.waitUntil(lambda: bool(looked.configs) and not page.runner.waiting_or_working)
    assert "A run is training" not in page.card.state.text()


def test_preflight_leaves_a_working_run_alone_unless_asked(page, session, looked, qtbot, monkeypatch):
    qtbot.waitUntil(lambda: bool(looked.configs))
    qtbot.waitUntil(lambda: not page.runner.waiting_or_working)
    looked.configs.clear()
    monkeypatch.setattr(type(session), "busy", True)
    typed(page, "training.epochs", "3")
    assert page.start.text() == "Add to queue"
    qtbot.waitUntil(lambda: page.card.check.isVisible())
    assert looked.configs == []
    page.card.check.click()
    qtbot.waitUntil(lambda: len(looked.configs) == 1)
    qtbot.waitUntil(lambda: not page.runner.waiting_or_working)
    monkeypatch.undo()


def test_the_page_waits_for_the_catalog(session, qtbot, looked):
    session.catalog = {}
    page = qtbot.addWidget(SetupPage(session))
    assert not page.start.isEnabled()
    session.config_offered.emit(RunConfig(name="Early"))
    session.set_catalog(CATALOG)
    assert page.start.isEnabled()
    assert page.config.name == "Early"


def test_a_changed_catalog_keeps_the_reasons_and_undo(page, session):
    session.config_offered.emit(RunConfig(name="Proposed"))
    session.config_explained.emit({"split.name": "Few classes."})
    typed(page, "training.epochs", "3")
    session.set_catalog(CATALOG | {"loss/new": CATALOG["loss/ce"]})
    assert "Few classes." in page.summary.text()
    page.steps.undo()
    assert page.config.training.epochs == RunConfig().training.epochs


def test_whole_images_are_told_by_their_short_side(page, session, qtbot):
    qtbot.waitUntil(lambda: found_images(page))
    assert "short side" not in row(page, "dataset.name").aside.text()
    page.card.show_result(Preflight(**FOUND | {"probe_every": 1}), {})
    assert page.card.facts["Probe"].text() == "2,048 images at every step, about 19% of the training time"
    page.card.show_result(Preflight(**FOUND | {"kept_side": 512}), {})
    assert "short side at most 512" in row(page, "dataset.name").aside.text()


@pytest.mark.parametrize(
    ("free", "kept", "said"),
    [
        (30e9, 61, "needs about"),
        (60e9, 61, ""),
        (0, 61, ""),  # not known
        (2e9, 3, "will be full"),
    ],
)
def test_what_the_runs_leave_on_the_disk_is_told_and_whether_it_fits(page, qtbot, free, kept, said):
    qtbot.waitUntil(lambda: found_images(page))
    use = DiskUse(checkpoint=100_000_000, evaluation=230_000_000, evaluations=kept, fewest=3)
    page.card.show_result(Preflight(**FOUND | {"disk": use, "free_bytes": int(free), "runs": 3, "notes": []}), {})
    shown, notes = page.card.facts["Disk"].text().replace(THIN, " "), page.card.worth_knowing
    each = f"{kept} evaluations of 230 MB, checkpoints 200 MB"
    assert shown.startswith(f"about {'42.7 GB' if kept == 61 else '2.7 GB'} for 3 runs ({each})")
    assert shown.endswith(" free") is (free > 0)
    assert notes.isVisible() is bool(said)
    assert said in notes.text()
    if said == "needs about":
        assert "'best and last' it needs about 2.7 GB" in notes.text()


@pytest.mark.parametrize(
    ("peak", "used", "whole", "words", "filled", "state"),
    [
        (False, 2**30, 2**33, "1.1 GB of 8.6 GB used after the trial steps", 125, ""),
        (True, 78e9, 80e9, "78.0 GB of 80.0 GB at the peak of the trial steps", 975, "full"),
        (False, 2**30, 0, "1.1 GB used after the trial steps", None, ""),
    ],
)
def test_memory_is_told_with_a_bar_of_its_share(page, qtbot, peak, used, whole, words, filled, state):
    qtbot.waitUntil(lambda: found_images(page))
    found = FOUND | {"memory_is_peak": peak, "memory_bytes": int(used)}
    page.card.show_result(Preflight(**found | {"memory_whole": int(whole)}), {})
    bar = page.card.shares["Memory"]
    assert page.card.facts["Memory"].text().replace(THIN, " ") == words
    assert bar.isHidden() is (filled is None)
    if filled is not None:
        assert (bar.value(), bar.property("state")) == (filled, state)
    page.card.show_idle("")
    assert bar.isHidden()


@pytest.mark.parametrize(("free", "said"), [(2.9e9, "about 3.1 GB are needed"), (3.2e9, "")])
def test_what_a_run_deletes_at_its_end_must_fit_on_the_disk_before(page, qtbot, free, said):
    qtbot.waitUntil(lambda: found_images(page))
    use = DiskUse(checkpoint=100_000_000, evaluation=230_000_000, evaluations=3, fewest=3, superseded=2)
    page.card.show_result(Preflight(**FOUND | {"disk": use, "free_bytes": int(free), "runs": 3, "notes": []}), {})
    assert page.card.worth_knowing.isVisible() is bool(said)
    assert said in page.card.worth_knowing.text().replace(THIN, " ")


def test_preflight_is_whole_where_nobody_knows_what_is_free(page, looked, qtbot, monkeypatch):
    qtbot.waitUntil(lambda: found_images(page))

    def gone(path):
        raise FileNotFoundError(path)

    results = []
    page.runner.done.connect(results.append)
    page.runner.failed.connect(results.append)
    monkeypatch.setattr(preflights.shutil, "disk_usage", gone)
    typed(page, "training.epochs", "2")
    qtbot.waitUntil(lambda: bool(results))
    assert [result.free_bytes for result in results] == [0]


def test_what_is_left_out_is_counted_by_rows(page, qtbot):
    qtbot.waitUntil(lambda: found_images(page))
    problems = [("split train", "has 1,200 rows without a label"), ("train/7", "is empty (0 bytes)")]
    page.card.show_result(Preflight(**FOUND | {"problems": problems, "left_out": 1201, "unit": "row"}), {})
    assert page.card.unfold.text() == "1,201 rows left out"
    assert page.card.left_out.count() == 2


def test_no_horizontal_bar_and_the_contents_give_way_in_a_narrow_window(page, qtbot):
    page.groups.unfold.click()
    for width, contents in ((900, True), (640, False), (800, True), (1040, True)):
        page.resize(width, 600)
        page.layout().activate()
        assert page.contents.isVisible() == contents
        qtbot.waitUntil(lambda: page.groups.widget().minimumSizeHint().width() <= page.groups.viewport().width())


def shown_fields(page):
    return {path for form in page.groups.forms.values() for path in form.names() if form.row(path).isVisibleTo(page)}


def test_essentials_come_first_and_advanced_is_folded_to_what_differs(page):
    assert {"dataset.name", "loss.dropout", "training.epochs"} <= shown_fields(page)
    assert not {"training.momentum", "seed"} & shown_fields(page)
    assert page.groups.summary.text().endswith(" fields, 0 changed")
    page.groups.unfold.click()
    typed(page, "training.momentum", "0.5")
    page.chooser.setFocus()
    page.groups.unfold.click()
    assert "training.momentum" in shown_fields(page)
    assert "seed" not in shown_fields(page)
    assert page.groups.summary.text().endswith(" fields, 1 changed")


def test_unfolding_makes_the_rows_in_several_turns(page, qtbot):
    page.groups.unfold.click()
    assert "evaluation.probe_every" not in shown_fields(page), "all at once would hold the window for 0.2 s"
    qtbot.waitUntil(lambda: "evaluation.probe_every" in shown_fields(page))
    page.groups.unfold.click()
    page.groups.unfold.click()
    assert page.groups.row("evaluation.probe_every").isVisibleTo(page), "a field that is wanted is there at once"


def test_a_field_is_found_by_its_words(page):
    QTest.keyClicks(page.groups.search, "momentum")
    assert "training.momentum" in shown_fields(page)
    assert "seed" not in shown_fields(page)
    QTest.keyClicks(page.groups.search, "zzz")
    assert page.groups.nothing.isVisibleTo(page)
    page.groups.search.clear()
    assert "training.momentum" not in shown_fields(page)


def test_the_fields_that_a_search_shows_are_scrolled_into_sight(page, qtbot):
    groups = page.groups
    groups.ensureWidgetVisible(groups.search)
    QTest.keyClicks(groups.search, "clip")
    fields = [row(page, path) for path in ("training.clip_norm", "training.clip_decay")]
    qtbot.waitUntil(lambda: all(in_sight(field) for field in fields))
    assert in_sight(groups.search)
    groups.search.setText("e")  # more than has room: the first are shown, below the words
    qtbot.waitUntil(lambda: groups.verticalScrollBar().value() == groups.advanced.y())


def test_the_contents_count_what_is_changed_and_wrong_and_lead_there(page):
    typed(page, "training.momentum", "0.5")
    typed(page, "training.epochs", "x")
    said = {heading: line.accessibleName() for heading, line in page.contents.lines.items()}
    assert said["Training"] == "Training: 1 changed, 0 wrong"
    assert said["Essentials"] == "Essentials: 1 changed, 1 wrong"
    page.contents.lines["Evaluation"].click()
    assert page.groups.row("evaluation.probe_size").isVisibleTo(page)


def heading_top(page, heading):
    form = page.groups.forms[heading]
    return form.mapTo(page.groups.viewport(), form.rect().topLeft()).y()


def test_a_heading_of_folded_fields_is_at_the_top_after_one_click(page, qtbot):
    page.resize(1200, 420)
    qtbot.waitUntil(page.contents.isVisible)
    page.contents.lines["Training"].click()
    qtbot.waitUntil(lambda: 0 <= heading_top(page, "Training") < page.groups.viewport().height() / 2)
    assert marked(page) == ["Training"]


def test_the_contents_are_one_stop_from_which_arrows_and_space_lead_to_a_heading(page, qtbot):
    page.resize(1200, 700)
    qtbot.waitUntil(page.contents.isVisible)
    lines = list(page.contents.lines.values())
    stops = [line for line in lines if line.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert stops == lines[:1]
    lines[0].setFocus()
    place = list(page.contents.lines).index("Training")
    for _ in range(place):
        qtbot.keyClick(page.window().focusWidget(), Qt.Key.Key_Down)
    assert page.window().focusWidget() is page.contents.lines["Training"]
    qtbot.keyClick(page.contents.lines["Training"], Qt.Key.Key_Space)
    form = page.groups.forms["Training"]
    assert page.window().focusWidget() is form.row(form.names()[0]).widget


def test_changed_fields_fit_into_the_form_of_a_small_window(page, qtbot):
    page.resize(1019, 580)  # of a window of 1280 x 720 px
    qtbot.waitUntil(page.contents.isVisible)
    for path, value in (("embedding.dim", "63"), ("loss.label_smoothing", "0.1"), ("training.lr", "0.02")):
        typed(page, path, value)
    qtbot.waitUntil(lambda: page.groups.row("training.lr").reset.isVisible())
    assert page.groups.widget().minimumSizeHint().width() <= page.groups.viewport().width()


def marked(page):
    return [heading for heading, line in page.contents.lines.items() if line.property("current")]


def test_the_contents_mark_the_heading_that_is_seen(page, qtbot):
    page.resize(1200, 420)
    page.groups.unfold.setChecked(True)
    bar = page.groups.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 400)
    assert marked(page) == ["Essentials"]
    for heading in ("Training", "Evaluation", "Run", "Essentials"):
        page.contents.lines[heading].click()
        assert marked(page) == [heading], "also where the form ends before it is at the top"
    bar.setValue(bar.maximum())
    assert marked(page) == ["Evaluation"]
    page.steps.undo()
    assert marked(page) == ["Evaluation"], "an edit does not move the view"
    bar.setValue(0)
    assert marked(page) == ["Essentials"]
    line = page.contents.lines["Essentials"]
    assert line.accessibleDescription() == "Shown now"


def test_the_counts_in_the_contents_are_not_cut_off(page):
    page.contents.show_counts(dict.fromkeys(page.contents.lines, (12, 1)))
    line = page.contents.lines["Essentials"]
    assert line.sizeHint().width() <= page.contents.width()


def test_no_line_breaks_between_a_number_and_its_unit(page, qtbot):
    qtbot.waitUntil(lambda: found_images(page))
    assert page.card.facts["Images"].text().endswith("(0.12\u202fMB)")
    for words in (value.text() for value in page.card.facts.values()):
        assert "\u2009" not in words, "a line may break there"


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Digits: CE, 3", "digits-ce-3"), ("Aux", "config-aux"), ("?", "config"), ("x" * 50, "x" * 50)],
)
def test_the_file_of_a_config_has_a_name_that_every_system_takes(name, slug):
    assert config_files.slug(name) == slug


def test_the_files_of_two_configs_whose_long_names_differ_at_the_end_are_two(tmp_path):
    names = [f"{'𐐨' * 99}{number}" for number in (1, 2)]
    for name in names:
        RunConfig(name=name).to_toml(tmp_path / f"{config_files.slug(name)}.toml")
    assert sorted(RunConfig.from_toml(path).name for path in tmp_path.iterdir()) == names
