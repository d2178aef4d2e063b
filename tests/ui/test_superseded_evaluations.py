"""A run that works deletes evaluations which it does not keep, while the window reads them."""

import numpy as np
import pytest

from tests.unit.workspace.test_workspace import Images, evaluated
from workbench.config import EvaluationParams, RunConfig
from workbench.events import Ended, Keep, Scalar, Status
from workbench.problem import Problem
from workbench.ui.pages.map.making import reading
from workbench.ui.pages.map.making.map_maker import MapMaker
from workbench.ui.pages.map.model import chain
from workbench.ui.pages.train import TrainPage
from workbench.workspace.measured import projections
from workbench.workspace.measured.stored_maps import Measured, store_map
from workbench.workspace.recorder import Recorder

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


@pytest.fixture
def recorder(qtbot, session):
    """That of a run which works and is shown, with the evaluations of epochs 0 to 2."""
    run_id = session.workspace.create_run(RunConfig(evaluation=EvaluationParams(keep="best and last")))
    made, images = Recorder(session.workspace, run_id), Images()
    made(Status("Loading"))
    made.dataset(session.workspace.register_dataset(images, None))
    for epoch in range(3):
        made(Scalar("test/MAP@R", 10 * epoch, 0.5))
        made(evaluated(images, epoch, 10 * epoch, 0.5 + epoch / 10))
    session.show_run(run_id)
    qtbot.waitUntil(lambda: len(session.evaluations()) == 3)
    yield made
    made(Ended("done"))


def test_the_best_is_shown_when_the_chosen_one_is_deleted(qtbot, session, recorder):
    first, _, best = session.evaluations()
    session.show_evaluation(first.id)
    recorder(Keep((1, 2)))
    qtbot.waitUntil(lambda: session.evaluation_id == best.id)


def test_train_draws_the_metrics_of_all_and_lists_those_that_are_kept(qtbot, session, recorder):
    page = qtbot.addWidget(TrainPage(session))
    page.show()
    recorder(Keep((0, 2)))
    qtbot.waitUntil(lambda: page.evaluations.unfold.text() == "2 of 3 evaluations kept, best epoch 2")
    assert page.evaluations.model.rowCount() == 2
    curve = page.curves.retrieval.curves["MAP@R"]
    assert curve.steps.tolist() == [0, 1, 2]
    assert curve.values.tolist() == pytest.approx([50, 50, 70])  # of the evaluation, of the curve, of the evaluation


def test_train_shows_evaluations_that_came_while_it_was_hidden_when_it_is_seen(qtbot, session, recorder):
    page = qtbot.addWidget(TrainPage(session))
    told = []
    session.evaluations_changed.connect(lambda: told.append(page.evaluations.model.rowCount()))
    recorder(evaluated(Images(), 3, 30, 0.9))
    qtbot.waitUntil(lambda: bool(told))
    assert told == [3]  # it costs the window nothing while another page is shown
    page.show()
    qtbot.waitUntil(lambda: page.evaluations.model.rowCount() == 4)
    assert page.evaluations.count.text() == "4"


@pytest.mark.parametrize("lasting", [False, True])
def test_work_on_a_deleted_evaluation_tells_it_only_where_something_stays(qtbot, session, recorder, lasting):
    """An export has failed, and its user is told so; a page shows another evaluation."""
    told, first, workspace = [], session.evaluations()[0], session.workspace
    session.noticed.connect(lambda problem: told.append(str(problem)))
    recorder(Keep((1, 2)))  # before the window has looked
    session.run_in_thread("Export", lambda progress: workspace.vectors(first.id), quiet=True, lasting=lasting)
    qtbot.waitUntil(lambda: not session.reading)
    qtbot.deliver()
    assert [words.partition(" in ")[0] for words in told] == [f"There is no evaluation {first.id}"] * lasting


def test_another_failure_is_shown_when_an_evaluation_was_deleted_meanwhile(qtbot, session, recorder):
    told = []
    session.noticed.connect(lambda problem: told.append(str(problem)))

    def work():
        recorder(Keep((1, 2)))
        raise Problem("The disk is full.")

    session.read(work, lambda _: None)
    qtbot.waitUntil(lambda: told == ["The disk is full."])


@pytest.mark.parametrize("deleted", [False, True])
def test_a_map_that_fails_is_silent_about_a_deleted_evaluation(qtbot, session, recorder, monkeypatch, deleted):
    answers = []
    monkeypatch.setattr(session.analysis, "request", lambda *asked, owner: answers.append(asked[-1]))
    told, first = [], session.evaluations()[0]
    session.noticed.connect(lambda problem: told.append(str(problem)))
    maker = MapMaker(session)
    maker.make(first.id, {"method": "umap", "params": {"metric": "cosine"}, "seed": 0})
    qtbot.waitUntil(lambda: bool(answers))
    if deleted:
        recorder(Keep((1, 2)))
    answers[0](Problem("The file is missing."))
    qtbot.waitUntil(lambda: not session.reading)
    qtbot.deliver()
    assert told == ([] if deleted else ["The file is missing."])


def test_a_map_of_a_deleted_evaluation_is_not_stored_and_leaves_no_file(session, recorder):
    first, folder = session.evaluations()[0], session.workspace.folder(recorder.run_id)
    recorder(Keep((1, 2)))
    kept = Measured(0.9, kept=np.zeros(12, np.float32))
    with pytest.raises(Problem):
        store_map(session.workspace, first.id, "pca", {}, 0, np.zeros((12, 2), np.float32), None, {}, kept)
    assert not [*folder.glob("map-*"), *folder.glob("kept-*")]


def test_a_map_whose_evaluation_is_deleted_while_it_is_stored_leaves_no_file(session, recorder, monkeypatch):
    workspace, first = session.workspace, session.evaluations()[0]

    def delete():
        recorder(Keep((1, 2)))
        return "now"

    monkeypatch.setattr(projections, "stamp", delete)
    kept = Measured(0.9, kept=np.zeros(12, np.float32))
    with pytest.raises(Problem, match="deleted while its map was made"):
        store_map(workspace, first.id, "pca", {}, 0, np.zeros((12, 2), np.float32), None, {}, kept)
    folder = workspace.folder(recorder.run_id)
    assert not [*folder.glob("map-*"), *folder.glob("kept-*")]
    with workspace.reading() as db:
        assert db.execute("select count(*) from artefacts where kind = 'projection'").fetchone() == (0,)


def test_a_chain_of_maps_leaves_out_those_of_deleted_evaluations(session, recorder, monkeypatch):
    workspace, start = session.workspace, None
    for evaluation in session.evaluations():
        start = store_map(
            workspace, evaluation.id, "pca", {}, 0, np.zeros((12, 2), np.float32), None, {}, Measured(0.9), start
        )
    monkeypatch.setattr(chain, "fits", lambda projection, wanted: True)
    read = chain.read_scores

    def delete_then_read(workspace, evaluation_id):
        recorder(Keep((2,)))
        return read(workspace, evaluation_id)

    last = reading.stored(workspace, session.evaluations()[-1].id, start)
    monkeypatch.setattr(chain, "read_scores", delete_then_read)
    told = chain.read_chain(workspace, last, {"method": "pca", "params": {}, "seed": 0})
    assert [frame.epoch for frame in told.frames] == [2]
