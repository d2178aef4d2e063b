"""A run that was killed or interrupted and gone on with tells what it would have told if it had been left alone."""

import pytest

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Waiting
from workbench.problem import Problem
from workbench.running import launch, trained_network
from workbench.training import checkpoint, trainer
from workbench.training.meter import FEED_WAIT, SYSTEM
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders import recording

SHORT = TrainingParams(epochs=3, batch_size=64, optimiser="sgd", schedule="cosine", warmup_steps=9)
OFTEN = EvaluationParams(probe_size=60, probe_every=4, anatomy_every=8, neighbours=5, every=2)
IN_CLASSES = Choice(name="classes_images", params={"images_per_class": 8})
FEW_CLASSES = {
    "split": Choice(name="classes", params={"validation": 0.2}), "sampler": IN_CLASSES,
    "training": SHORT.model_copy(update={"batch_size": 32}),
}  # fmt: skip
PROJECTED = {"proxies": 2, "pool": 4, "check_every": 3, "patience": 1, "penalty": 0.01}
CASES = {
    "ce": {
        "loss": Choice(name="ce", params={"dropout": 0.3}),
        "evaluation": OFTEN.model_copy(update={"nmi": True, "other_distance": True}),
    },
    "adam": {
        "loss": Choice(name="norm_ce"), "augmentation": Choice(name="shift"),
        "training": SHORT.model_copy(update={"optimiser": "adam", "views": 2, "batch_size": 32, "epochs": 2}),
    },
    "xbm": {"loss": Choice(name="xbm", params={"memory": 150, "warm_up": 6}), "sampler": IN_CLASSES},
    "snca": {"loss": Choice(name="snca", params={"memory": 150}), "sampler": IN_CLASSES},
    "margin": {"loss": Choice(name="margin"), "sampler": IN_CLASSES},
    "rankmi": {"loss": Choice(name="rankmi"), "sampler": IN_CLASSES},
    "ice": {"loss": Choice(name="ice"), "sampler": IN_CLASSES},
    "tsc": {
        "loss": Choice(name="tsc"), "augmentation": Choice(name="shift"),
        "training": SHORT.model_copy(update={"views": 2}),
    },
    "head": {
        "loss": Choice(name="proxy_anchor"),
        "training": SHORT.model_copy(update={"optimiser": "adam", "beta2": 0.9, "head_epochs": 1}),
    },
    "patience": {  # the one class held out has a MAP@R of 1 in every epoch
        **FEW_CLASSES, "loss": Choice(name="margin"),
        "sampler": Choice(name="classes_images", params={"images_per_class": 16}),
        "evaluation": OFTEN.model_copy(update={"every": 1}),
        "training": SHORT.model_copy(update={"epochs": 6, "patience": 3}),
    },
    "whole": {  # crops made ahead by threads, and the average of the weights
        "loss": Choice(name="ce"),
        "augmentation": Choice(name="crop_flip", params={"crops_of": "whole", "evaluated": "whole"}),
        "training": SHORT.model_copy(update={"weight_average": 0.9}),
    },
    "ccp": {
        "loss": Choice(name="ccp", params=PROJECTED), **FEW_CLASSES,
        "training": SHORT.model_copy(update={"batch_size": 32, "epochs": 2}),
    },
    "samples": {"loss": Choice(name="ccp", params=PROJECTED | {"variant": "samples"}), "sampler": IN_CLASSES},
}  # fmt: skip


LONG = (
    "samples",
    "tsc",
    "rankmi",
    "snca",
    "head",
    "margin",
    "ice",
)  # each has a case with the same parts that is told every time


class Killed(BaseException):
    """The process is gone: nothing is recorded any more."""


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory):
    """What a run of each case tells without any interruption."""
    found = {}

    def of(case):
        if case not in found:
            with Workspace(tmp_path_factory.mktemp(case) / "space", create=True) as workspace:
                go(workspace, launch.prepare_run(config(case), workspace))
                found[case] = told(workspace)
        return found[case]

    return of


@pytest.fixture
def ended_at(monkeypatch):
    """Trains a run until before the step after `step`, then kills it or asks it to end."""
    whole, train = trainer.stand_still, trainer.train_step

    def end(workspace, run_id, step, *, kill, resume=False):
        done = [] if resume else [0]  # steps

        def count(parts, *batch):
            value = train(parts, *batch)
            done.append(parts.step)
            return value

        def look(control, emit, meter):
            if done[-1:] == [step]:
                if kill:
                    raise Killed
                control.interrupt()
            whole(control, emit, meter)

        with monkeypatch.context() as changed:
            changed.setattr(trainer, "stand_still", look)
            changed.setattr(trainer, "train_step", count)
            changed.setattr(recording, "COMMIT_EVERY", 1e6)  # seconds: what nobody asked to be committed is lost
            if kill:
                with pytest.raises(Killed):
                    go(workspace, run_id, resume=resume)
            else:
                go(workspace, run_id, resume=resume)
        workspace.set_status(run_id, "interrupted")
        workspace.take_over(run_id)

    return end


def config(case):
    plain = {
        "device": "cpu", "dataset": Choice(name="digits", params={"image_size": 8}),
        "backbone": Choice(name="conv4", params={"width": 8}), "embedding": EmbeddingParams(dim=8),
        "split": Choice(name="random"), "training": SHORT, "evaluation": OFTEN,
    }  # fmt: skip
    return RunConfig(**plain | CASES[case])


def go(workspace, run_id, *, resume=False):
    recorder = Recorder(workspace, run_id)
    try:
        launch.run(workspace, run_id, Control(), recorder, recorder, resume=resume)
        recorder.flush()
    finally:
        recorder.close()


def told(workspace):
    """Everything that a run has recorded but times, as text: not-a-number is equal to itself."""
    names = [name for name in workspace.scalar_names(1) if name != FEED_WAIT and not name.startswith(SYSTEM)]
    curves = {name: [each.tolist() for each in workspace.scalars(1, name)] for name in names}
    charts = {step: workspace.charts(1, step) for step in workspace.chart_steps(1)}
    evaluations = [
        (each.epoch, each.step, each.metrics, workspace.embeddings(each.id)[2].tobytes(), workspace.run(1).best_epoch)
        for each in workspace.evaluations(1)
    ]
    whole = {f"curve {name}": curve for name, curve in curves.items()}
    whole |= {f"charts {step}": each for step, each in charts.items()}
    return {name: repr(each) for name, each in (whole | {"evaluations": evaluations}).items()}


@pytest.mark.parametrize(
    ("step", "kill"),
    [
        pytest.param(step, kill, id=f"{step}-{'killed' if kill else 'interrupted'}", marks=slow)
        for step in (0, 5, 15, 37)
        for kill in (True, False)
        # The test below ends a run of the same config within each of its epochs.
        for slow in [pytest.mark.slow if step in (5, 15) or (not kill and step > 5) else ()]
    ],
)
def test_ended_at_a_step_and_gone_on_with_it_tells_the_same(step, kill, workspace, left_alone, ended_at):
    run_id = launch.prepare_run(config("ce"), workspace)
    ended_at(workspace, run_id, step, kill=kill)
    go(workspace, run_id, resume=True)
    assert told(workspace) == left_alone("ce")
    began_anew = kill and step < 15  # the first checkpoint comes with the end of the first epoch
    assert ("it starts from the beginning" in workspace.run(run_id).note) == began_anew


@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.slow if case in LONG else ()) for case in CASES])
def test_ended_again_and_again_every_method_tells_the_same(case, workspace, left_alone, ended_at):
    run_id = launch.prepare_run(config(case), workspace)
    ended_at(workspace, run_id, 5, kill=False)
    ended_at(workspace, run_id, 26, kill=True, resume=True)
    ended_at(workspace, run_id, 37, kill=False, resume=True)
    go(workspace, run_id, resume=True)
    assert told(workspace) == left_alone(case)


def test_early_stopping_ends_a_run_as_done_and_says_so(workspace):
    run_id = launch.prepare_run(config("patience"), workspace)
    go(workspace, run_id)
    assert [each.epoch for each in workspace.evaluations(run_id)] == [0, 1, 2, 3, 4]
    assert "Ended early, after epoch 4" in workspace.run(run_id).note
    at_the_end = workspace.scalars(run_id, "probe/spce")[0].tolist(), told(workspace)
    go(workspace, run_id, resume=True)  # killed before it was told to be done: nothing is trained any more
    assert (workspace.scalars(run_id, "probe/spce")[0].tolist(), told(workspace)) == at_the_end


@pytest.mark.parametrize("harm", ["cut", "flipped", "gone"])
def test_without_a_whole_last_checkpoint_it_goes_on_from_the_best_and_says_so(harm, workspace, left_alone, ended_at):
    run_id = launch.prepare_run(config("xbm"), workspace)
    ended_at(workspace, run_id, 37, kill=False)
    last = workspace.folder(run_id) / "last.pt"
    whole = last.read_bytes()
    last.unlink()
    if harm != "gone":
        half = len(whole) // 2
        last.write_bytes(whole[:half] + (b"" if harm == "cut" else bytes([whole[half] ^ 1]) + whole[half + 1 :]))
    go(workspace, run_id, resume=True)
    assert told(workspace) == left_alone("xbm")
    note = workspace.run(run_id).note
    assert ("last.pt is not a complete checkpoint" in note and "went on from best.pt" in note) == (harm != "gone")


def test_without_any_whole_checkpoint_nothing_is_forgotten(workspace, ended_at):
    run_id = launch.prepare_run(config("ce"), workspace)
    ended_at(workspace, run_id, 37, kill=False)
    for place in trained_network.checkpoints(workspace, run_id):
        place.write_bytes(b"cut")
    before = told(workspace)
    with pytest.raises(Problem, match=r"(?s)last\.pt is not a complete.*best\.pt is not a complete.*curves.*are kept"):
        go(workspace, run_id, resume=True)
    assert told(workspace) == before


def test_a_checkpoint_that_the_disk_refused_is_written_when_the_person_goes_on(workspace, left_alone, monkeypatch):
    save, refused = checkpoint.save, []

    def full_at_first(path, state):
        if not refused:
            refused.append(path)
            raise Problem("The disk is full.")
        save(path, state)

    def emit(event):
        recorder(event)
        if isinstance(event, Waiting):
            run = workspace.run(run_id)
            assert (run.status, run.problem) == ("waiting", "The disk is full.")
            control.resume()

    monkeypatch.setattr(checkpoint, "save", full_at_first)
    run_id, control = launch.prepare_run(config("ce"), workspace), Control(attended=True)
    recorder = Recorder(workspace, run_id, control)
    launch.run(workspace, run_id, control, emit, recorder)
    recorder.flush()
    recorder.close()
    assert refused[0].exists()
    assert told(workspace) == left_alone("ce")
