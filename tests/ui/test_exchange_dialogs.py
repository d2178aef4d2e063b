"""Export… and Import embeddings… in the window, with real files."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from trained import trained_run

from tests.trained_sample import sample_space
from workbench.config import IMPORTED, KINDS, RunConfig
from workbench.exchange.server import OPS
from workbench.jobs.serving import CAN_PEEK
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.ui.actions.exchange.export_dialog import ExportDialog
from workbench.ui.actions.exchange.import_dialog import ABOUT
from workbench.ui.actions.exchange.other_images_dialog import OtherImagesDialog
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.state.background.analysis import AnalysisClient
from workbench.ui.state.process_work import ProcessWork
from workbench.workspace import Workspace

pytestmark = [
    pytest.mark.usefixtures("blank_set_up"),
    pytest.mark.qt_log_ignore("propagateSizeHints"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:numba"),
]


@pytest.fixture(scope="module")
def _digits_space(tmp_path_factory):
    """A workspace whose run 1 is the sample's network, trained for an epoch."""
    return sample_space(tmp_path_factory.mktemp("digits"), 1)


@pytest.fixture
def workspace(request, tmp_path, _empty_workspace):
    """A workspace of the test's own: with the trained run for tests of `digits`, for others empty."""
    whole = request.getfixturevalue("_digits_space") if "digits" in request.fixturenames else _empty_workspace
    return Workspace(shutil.copytree(whole, tmp_path / "workspace"))


@pytest.fixture
def _in_this_process(monkeypatch):
    """What the window asks of the process of exports and imports is done here: to start one takes a second or two."""

    def work(of, _client, title, op, fields, done, failed, *_, **__):
        asked = {"workspace": str(of.workspace.path), **fields}
        of.run_in_thread(title, lambda _: OPS[op](asked, quiet), done, failed)
        return SimpleNamespace(over=True)  # nothing that could be cancelled

    for dialog in ("import_dialog", "export_dialog"):
        monkeypatch.setattr(f"workbench.ui.actions.exchange.{dialog}.ProcessWork", work)


@pytest.fixture
def run_id(workspace, tmp_path):
    return trained_run(workspace, tmp_path / "cache")


@pytest.fixture
def notices(session):
    told = []
    session.noticed.connect(told.append)
    return told


@pytest.fixture
def arrays(tmp_path):
    """Files of 30 embeddings with labels and images."""
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    np.save(tmp_path / "vectors.npy", np.eye(3, 4)[labels] + 0.2 * rng.normal(size=(30, 4)))
    np.save(tmp_path / "labels.npy", labels)
    np.save(tmp_path / "pixels.npy", rng.integers(0, 256, (30, 12, 12), dtype=np.uint8))
    return tmp_path


def test_a_run_is_exported_from_its_menu(qtbot, run_id, session, window, notices, tmp_path):
    assert window.run_actions.exchange.export in window.runs.list.actions()
    session.show_run(run_id)
    dialog = window.run_actions.exchange.ask_export()
    assert not dialog.start.isEnabled(), "nothing is known of the run yet"
    qtbot.waitUntil(dialog.start.isEnabled)
    assert dialog.formats() == ["config", "csv", "npy"]
    assert not dialog.boxes["torch"].isEnabled()
    assert dialog.reasons["torch"].text() == f"Run {run_id} has no checkpoint."
    for name in dialog.formats():
        dialog.boxes[name].setChecked(False)
    assert not dialog.start.isEnabled()
    dialog.boxes["tensorboard"].setChecked(True)
    dialog.boxes["projector"].setChecked(True)
    dialog.folder.take(str(tmp_path / "out"))
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any("Exported 3 files" in str(each) for each in notices))
    assert (tmp_path / "out" / "vectors.tsv").exists()
    assert list((tmp_path / "out" / "tensorboard").iterdir())
    [item] = [each for each in session.activity.items if each.title == f"Export run {run_id}"]
    qtbot.waitUntil(lambda: item.state == "done")


def wait_for_export(qtbot, notices, out):
    """Return when three files in this folder are announced."""
    qtbot.waitUntil(lambda: any(f"Exported 3 files to {out}." in str(notice) for notice in notices))


@pytest.mark.usefixtures("_in_this_process")
def test_the_embeddings_of_any_stored_epoch_are_exported(qtbot, run_id, session, window, notices, tmp_path):
    session.show_run(run_id)
    for chosen, epoch in (("best", 1), ("last", 2), ("0", 0)):
        dialog, out = window.run_actions.exchange.ask_export(), tmp_path / chosen
        assert not dialog.epoch.isEnabled(), "nothing is known of the run yet"
        qtbot.waitUntil(dialog.start.isEnabled)
        offered = {dialog.epoch.itemData(at): dialog.epoch.itemText(at) for at in range(dialog.epoch.count())}
        assert offered == {
            "best": "Best: epoch 1", "last": "Last: epoch 2", "0": "Epoch 0 (untrained)", "1": "Epoch 1",
            "2": "Epoch 2",
        }  # fmt: skip
        assert dialog.epoch.value() == "best"
        dialog.epoch.set_value(chosen)
        for name in ("config", "csv"):
            dialog.boxes[name].setChecked(False)
        dialog.folder.take(str(out))
        qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
        wait_for_export(qtbot, notices, out)
        [wanted] = [entry.id for entry in session.workspace.evaluations(run_id) if entry.epoch == epoch]
        np.testing.assert_array_equal(np.load(out / "embeddings.npy"), session.workspace.embeddings(wanted)[2])


@pytest.mark.usefixtures("_in_this_process")
def test_a_folder_in_which_nothing_can_be_written_is_told(qtbot, run_id, session, window, notices, tmp_path):
    (tmp_path / "file").write_text("in the way")
    session.show_run(run_id)
    dialog = window.run_actions.exchange.ask_export()
    qtbot.waitUntil(dialog.start.isEnabled)
    dialog.folder.take(str(tmp_path / "file"))
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(isinstance(each, Problem) for each in notices))
    assert "could not be written" in str(notices[-1])


def test_tab_meets_the_formats_of_an_export_before_its_folder_and_buttons(qtbot, run_id, session):
    session.show_run(run_id)
    dialog = ExportDialog(session, session.run())
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(lambda: dialog.isActiveWindow() and dialog.start.isEnabled())
    first, met = dialog.boxes["config"], []
    first.setFocus()
    while dialog.focusWidget() not in met:
        met.append(dialog.focusWidget())
        QTest.keyClick(met[-1], Qt.Key.Key_Tab)
    boxes = [met.index(box) for box in dialog.boxes.values() if box.isEnabled()]
    assert boxes == list(range(len(boxes)))
    assert met[-2:] == [dialog.cancel, dialog.start]


def test_an_export_that_begins_before_its_default_folder_is_known_ends_the_search_for_it(
    qtbot, run_id, session, tmp_path, monkeypatch
):
    tasks, find = [], session.find_place
    monkeypatch.setattr(session, "find_place", lambda *asked: tasks.append(find(*asked)) or tasks[0])
    session.show_run(run_id)
    dialog = qtbot.addWidget(ExportDialog(session, session.run()))
    dialog.accept()
    assert tasks[0].cancelled  # its answer would be for a dialog that is deleted


def test_a_read_only_workspace_proposes_no_folder_of_its_own(qtbot, run_id, session, workspace):
    workspace.read_only = True
    session.show_run(run_id)
    dialog, asked = ExportDialog(session, session.run()), []
    qtbot.addWidget(dialog)
    session.find_place(run_id, "report", asked.append)
    qtbot.waitUntil(lambda: bool(asked) and dialog.boxes["config"].isEnabled())
    assert (asked, dialog.folder.value(), dialog.start.isEnabled()) == ([""], "", False)
    assert any("which is read-only" in line.text() for line in dialog.findChildren(QLabel))
    dialog.reject()


def test_a_run_that_has_not_ended_says_so(qtbot, session, workspace, window):
    session.show_run(workspace.create_run(RunConfig(name="young")))
    dialog = window.run_actions.exchange.ask_export()
    qtbot.waitUntil(dialog.start.isEnabled)
    assert dialog.formats() == ["config"]
    assert not dialog.epoch.isEnabled(), "it has no evaluation"
    assert dialog.state.text().startswith("This run has not ended")
    dialog.reject()


def test_without_a_run_there_is_nothing_to_export(window, notices):
    assert not window.run_actions.exchange.export.isEnabled()
    assert window.run_actions.exchange.ask_export() is None
    assert "Choose a run" in str(notices[-1])


@pytest.mark.usefixtures("_in_this_process")
def test_imported_embeddings_are_mapped_and_browsed(qtbot, session, window, arrays):
    """By PCA, which needs no process; the slow test below has UMAP in the real one."""
    window.pages.page("map").model.choose_method(MapMethod("pca"))
    assert window.commands["file.import"] in window.menus.file.actions()
    dialog = window.run_actions.exchange.ask_import()
    assert not dialog.start.isEnabled()
    dialog.places["embeddings"].take(str(arrays / "vectors.npy"))
    dialog.places["labels"].take(str(arrays / "labels.npy"))
    dialog.places["array"].take(str(arrays / "pixels.npy"))
    dialog.name.setText("Theirs")
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.run_id is not None)
    assert session.run().name == "Theirs"
    assert session.page == "map"
    maps = window.pages.page("map")
    qtbot.waitUntil(lambda: maps.canvas.data is not None)
    assert len(maps.canvas.data.points) == 30
    session.show_page("retrieval")
    retrieval = window.pages.page("retrieval")
    qtbot.waitUntil(lambda: len(retrieval.result.cards) > 0)
    session.show_page("train")
    assert "imported embeddings" in window.pages.page("train").header.state.text()


@pytest.mark.slow
def test_one_file_of_named_arrays_needs_no_file_of_labels(qtbot, session, window, arrays):
    np.savez(arrays / "all.npz", embeddings=np.load(arrays / "vectors.npy"), labels=np.load(arrays / "labels.npy"))
    dialog = window.run_actions.exchange.ask_import()
    dialog.places["embeddings"].take(str(arrays / "all.npz"))
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.run_id is not None)
    maps = window.pages.page("map")
    qtbot.waitUntil(lambda: maps.canvas.data is not None)
    assert len(maps.canvas.data.points) == 30
    session.analysis.close()


@pytest.mark.usefixtures("_in_this_process")
def test_embeddings_that_are_only_searched_open_on_their_own_page(qtbot, session, window, arrays):
    dialog = window.run_actions.exchange.ask_import()
    dialog.places["embeddings"].take(str(arrays / "vectors.npy"))
    dialog.places["labels"].take(str(arrays / "labels.npy"))
    dialog.places["array"].take(str(arrays / "pixels.npy"))
    dialog.only_search.setChecked(True)
    assert "have no images" in dialog.state.text()
    dialog.places["array"].take("")
    dialog.start.click()
    qtbot.waitUntil(lambda: session.run_id is not None)
    gallery = window.pages.page("retrieval").gallery
    qtbot.waitUntil(lambda: gallery.model.facts is not None)
    assert gallery.model.facts["count"] == 30
    assert session.page == "retrieval"


@pytest.mark.usefixtures("_in_this_process", "analysis")
def test_what_is_wrong_is_said_in_the_dialog_and_can_be_mended(qtbot, session, window, arrays):
    np.save(arrays / "short.npy", np.zeros(3, int))
    dialog = window.run_actions.exchange.ask_import()
    dialog.places["embeddings"].take(str(arrays / "vectors.npy"))
    dialog.places["labels"].take(str(arrays / "short.npy"))
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "30 embeddings, but short.npy 3 labels" in dialog.state.text())
    assert dialog.state.property("role") == "error"
    assert dialog.start.isEnabled()
    assert session.runs() == []
    dialog.places["images"].take(str(arrays))
    dialog.places["array"].take(str(arrays / "pixels.npy"))
    assert not dialog.start.isEnabled()
    assert "clear one of the two" in dialog.state.text()
    dialog.places["images"].take("")
    dialog.places["labels"].take(str(arrays / "labels.npy"))
    assert dialog.state.text() == ABOUT
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.run_id is not None)
    session.analysis.close()


def test_a_file_of_another_kind_is_said_beside_its_field_at_once(window, arrays):
    dialog = window.run_actions.exchange.ask_import()
    (arrays / "notes.txt").write_text("no numbers")
    dialog.places["embeddings"].take(str(arrays / "notes.txt"))
    said = dialog.said["embeddings"]
    assert said.text() == "notes.txt is not one of .npy, .npz, .csv, .tsv, .parquet."
    assert said.property("role") == "error"
    assert not dialog.start.isEnabled()
    dialog.places["embeddings"].take(str(arrays / "gone.npy"))
    assert said.text().startswith("There is no file ")
    dialog.places["embeddings"].take(str(arrays / "vectors.npy"))
    assert said.property("role") == "caption"
    assert dialog.start.isEnabled()


@pytest.mark.usefixtures("_in_this_process", "analysis")
def test_images_of_a_folder_are_kept_at_the_size_asked_for(qtbot, session, window, arrays):
    from PIL import Image

    (arrays / "images").mkdir()
    pixels = np.load(arrays / "pixels.npy")
    for row, picture in enumerate(pixels):
        Image.fromarray(picture).save(arrays / "images" / f"{row}.png")
    lines = [f"{row % 3},{row}.png" for row in range(len(pixels))]
    (arrays / "labels.csv").write_text("\n".join(["label,path", *lines]), "utf-8")
    dialog = window.run_actions.exchange.ask_import()
    dialog.places["embeddings"].take(str(arrays / "vectors.npy"))
    dialog.places["labels"].take(str(arrays / "labels.csv"))
    dialog.places["images"].take(str(arrays / "images"))
    assert dialog.image_size.value() == 128
    dialog.image_size.clear()
    qtbot.keyClicks(dialog.image_size, "4")
    assert not dialog.start.isEnabled()
    assert dialog.state.text() == "The image size must be a whole number, 8 to 1,024."
    qtbot.keyClicks(dialog.image_size, "0")
    assert dialog.state.text() == ABOUT
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.run_id is not None and session.run().status == "done")
    assert session.workspace.dataset(session.run().dataset_id).image_size == 40
    session.analysis.close()


def test_a_cancelled_import_makes_no_run(qtbot, session, window, arrays):
    dialog = window.run_actions.exchange.ask_import()
    dialog.places["embeddings"].take(str(arrays / "vectors.npy"))
    dialog.places["labels"].take(str(arrays / "labels.npy"))
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    assert not dialog.start.isEnabled()
    [item] = [each for each in session.activity.items if each.title == "Import embeddings"]
    item.cancel()
    qtbot.waitUntil(lambda: item.state == "cancelled")
    assert dialog.start.isEnabled(), "it can be started again"
    dialog.reject()
    assert session.workspace.runs() == []


def test_an_imported_run_cannot_be_trained_again(qtbot, session, window, arrays, notices):
    from workbench.exchange.imported.importing import import_embeddings

    session.show_run(import_embeddings(session.workspace, arrays / "vectors.npy", arrays / "labels.npy"))
    window.run_actions.duplicate.trigger()
    assert "there is nothing to train" in str(notices[-1])
    assert not window.run_actions.resume.isEnabled()


@pytest.fixture
def digits(workspace, tmp_path):
    """The trained run of the workspace, and a folder of its images: ten of each of three classes."""
    of_run = workspace.run(1)
    samples, pictures = workspace.samples(of_run.dataset_id), workspace.pictures(of_run.dataset_id)
    for label in range(3):
        (tmp_path / "pages" / str(label)).mkdir(parents=True)
        for row in np.flatnonzero(samples.labels == label)[:10]:
            picture = pictures.thumbnail(int(samples.ids[row]))
            Image.fromarray(picture).save(tmp_path / "pages" / str(label) / f"{row}.png")
    return of_run.id, tmp_path / "pages"


def images_dialog(qtbot, window):
    """The dialog of a test of the shown run, once it is open."""
    window.run_actions.exchange.test.trigger()
    qtbot.waitUntil(lambda: any(dialog.isVisible() for dialog in window.findChildren(OtherImagesDialog)))
    return window.findChildren(OtherImagesDialog)[-1]


@pytest.mark.slow  # by the real process; test_testing_ticked_runs.py has the networks of two runs, tested by a thread
def test_the_network_of_a_run_is_tested_on_a_folder_of_other_images(qtbot, session, window, digits, notices):
    run_id, folder = digits
    session.show_run(run_id)
    dialog = images_dialog(qtbot, window)
    dialog.images.take(str(folder))
    qtbot.keyClick(dialog.name, Qt.Key.Key_Return)  # as its main button
    qtbot.waitUntil(lambda: session.run_id != run_id)
    run = session.run()
    assert (run.name, run.status) == ("Sample: Digits on pages", "done")
    assert run.best["queries"] == 30
    assert run.best["recall@1"] > 0.5
    assert "3 of the 3 classes have the name of a class" in str(notices[-1])


@pytest.fixture
def begun(monkeypatch):
    """The fields of each test that the window begins, without its process."""
    fields = []
    monkeypatch.setattr(
        "workbench.ui.actions.exchange.exchange_actions.ProcessWork", lambda *given, **_: fields.append(given[4])
    )
    return fields


def test_a_list_is_tested_by_the_last_network_under_a_name(qtbot, session, window, digits, tmp_path, begun):
    run_id, _ = digits
    session.show_run(run_id)
    (tmp_path / "list.csv").write_text("path,label\n", encoding="utf-8")
    dialog = images_dialog(qtbot, window)
    dialog.images.take(str(tmp_path / "list.csv"))
    dialog.network.set_value("last")
    dialog.name.setText(" Night ")
    dialog.start.click()
    assert begun == [
        {"run": run_id, "images": str(tmp_path / "list.csv"), "name": "Night", "epoch": "last", "device": "auto"}
    ]


def test_the_dialog_of_a_test_says_what_is_wrong_with_the_images(qtbot, session, window, digits, tmp_path):
    session.show_run(digits[0])
    dialog = images_dialog(qtbot, window)
    assert not dialog.start.isEnabled()
    (tmp_path / "notes.md").write_text("", encoding="utf-8")
    for path, wrong in ((tmp_path / "gone", "There is no folder or file"), (tmp_path / "notes.md", "is not a folder")):
        dialog.images.take(str(path))
        assert wrong in dialog.said.text()
        assert not dialog.start.isEnabled()
    dialog.images.take(str(tmp_path))
    assert dialog.start.isEnabled()
    dialog.reject()


def test_the_network_of_a_test_is_not_chosen(qtbot, session, window, digits, monkeypatch):
    session.show_run(digits[0])
    tested = replace(session.run(), environment={"imported": {"network": 4, "epoch": 12}})
    monkeypatch.setattr(session, "run", lambda: tested)
    dialog = images_dialog(qtbot, window)
    assert [dialog.network.itemText(row) for row in range(dialog.network.count())] == [
        "The tested one: run 4, epoch 12"
    ]
    dialog.reject()


def test_a_test_without_a_run_or_without_its_network_says_so(qtbot, session, window, run_id, notices, monkeypatch):
    asked = []
    monkeypatch.setattr("workbench.ui.actions.exchange.other_images_dialog.OtherImagesDialog.open", asked.append)
    window.run_actions.exchange.ask_test()
    assert "Choose a run" in str(notices[-1])
    session.show_run(run_id)
    window.run_actions.exchange.test.trigger()
    qtbot.waitUntil(lambda: "has no checkpoint" in str(notices[-1]))
    assert not asked, "images were asked for in vain"


@pytest.fixture
def answer(session, window, run_id, monkeypatch, tmp_path):
    """What a test of the shown run gets from its process, to be called with the answer."""
    begun = []
    monkeypatch.setattr(
        "workbench.ui.actions.exchange.exchange_actions.ProcessWork", lambda *given, **_: begun.append(given)
    )
    session.show_run(run_id)
    window.run_actions.exchange.test_on(session.run(), tmp_path / "own")
    return begun[0][5]


def test_a_test_that_is_done_leaves_the_page_that_the_person_went_to(session, run_id, answer, notices):
    session.show_page("compare")
    answer({"run_id": 7, "remarks": ["2 were left out."]})
    assert (session.run_id, session.page) == (run_id, "compare")
    assert str(notices[-1]).endswith("was tested on own: run 7 in the Runs list. 2 were left out.")


def test_a_test_of_another_workspace_shows_no_run_of_this_one(session, answer, notices, tmp_path):
    before = session.workspace.path
    session.open_workspace(Workspace(tmp_path / "another", create=True))
    answer({"run_id": 1, "remarks": []})
    assert session.run_id is None
    assert str(notices[-1]).endswith(f"was tested on own: run 1 of the workspace {before}.")


class Unanswering:
    """In place of a process: it takes one request, and answers none."""

    def __init__(self, on_answer):
        self.on_answer = on_answer

    def request(self, op, **fields):
        return 1


@pytest.mark.parametrize("takes_back", [True, False])
def test_a_cancelled_process_that_takes_back_its_run_is_asked_to_end_and_others_are_killed(session, takes_back):
    said = []

    class Process(Unanswering):
        def cancel(self, number):
            said.append("killed")

        def end(self):
            said.append("asked to end")

        close = end

    client = AnalysisClient(session, Process)
    ProcessWork(
        session, client, "Test", "evaluate", {}, said.append, said.append, ends_process=True, takes_back=takes_back
    ).cancel()
    assert ("killed" in said) != (takes_back and CAN_PEEK)
    assert said[-1] == "asked to end"


def test_where_a_process_cannot_hear_the_cancel_what_it_left_half_stored_is_deleted(
    qtbot, session, workspace, monkeypatch
):
    """As on Windows: the process is killed, here with a run whose owner is gone."""
    monkeypatch.setattr("workbench.ui.state.process_work.CAN_PEEK", False)
    whole = trained_run(workspace, workspace.path / "pixels")
    qtbot.waitUntil(lambda: session.run(whole) is not None)
    parts = dict.fromkeys(KINDS, IMPORTED)

    class Process(Unanswering):
        def cancel(self, number):
            left = workspace.create_run(RunConfig.model_validate({"name": "Half", **parts}))
            workspace.set_status(left, "interrupted")

        def close(self):
            pass

        end = close

    nothing = [].append
    work = ProcessWork(
        session, AnalysisClient(session, Process), "Test", "evaluate", {}, nothing, nothing, ends_process=True,
        takes_back=True,
    )  # fmt: skip
    work.cancel()
    qtbot.waitUntil(lambda: [run.id for run in workspace.runs()] == [whole])
