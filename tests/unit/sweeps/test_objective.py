"""The value of a trial: of the best epoch, or the last point of a training curve, which must be a number."""

from math import inf, nan

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import evaluated, images
from workbench.config import BadConfig, RunConfig
from workbench.entries import catalog
from workbench.events import Ended, Scalar, Status
from workbench.sweeps import objective
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


def trained(workspace: Workspace, values: list[float]) -> int:
    run_id = workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id)
    for step, value in enumerate(values, 1):
        recorder(Scalar("probe/ce", step, value))
    recorder.flush()
    recorder.close()
    return run_id


def test_the_last_point_counts(workspace):
    run_id = trained(workspace, [2.0, nan, 0.5])
    assert objective.measured(workspace, run_id, "probe/ce") == 0.5


@pytest.mark.parametrize("last", [nan, inf])
def test_a_run_that_diverged_has_no_value_of_the_time_before(workspace, last):
    run_id = trained(workspace, [2.0, 0.001, last])
    assert objective.measured(workspace, run_id, "probe/ce") is None
    said = objective.reason_without(workspace, run_id, "probe/ce")
    assert said == "The run diverged: its last CE on the probe is not a number."


def test_a_run_without_the_curve_says_so(workspace):
    run_id = trained(workspace, [])
    assert objective.measured(workspace, run_id, "probe/ce") is None
    assert objective.reason_without(workspace, run_id, "probe/ce") == "The run has no CE on the probe."


def test_the_linear_probe_counts_at_the_last_epoch_whatever_the_best_one_is(workspace):
    """MAP@R is best at epoch 1; the probe is measured at the end only."""
    shown, run_id = images(6), workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(shown, workspace.path / "pixels.npy"))
    recorder(evaluated(shown, 1, np.full(6, 0.9), np.arange(6), {}))
    recorder.flush()
    assert objective.measured(workspace, run_id, "linear/top-1") is None
    assert objective.reason_without(workspace, run_id, "linear/top-1") == "The run has no Linear probe, top-1."
    recorder(evaluated(shown, 2, np.full(6, 0.3), np.arange(6), {"linear/top-1": 0.625}))
    recorder(Ended("done"))
    assert workspace.run(run_id).best_epoch == 1
    assert objective.measured(workspace, run_id, "linear/top-1") == 0.625
    assert objective.measured(workspace, run_id, "MAP@R") == pytest.approx(0.9)


def test_the_linear_probe_is_offered_where_the_runs_have_it():
    known, probed = catalog.current(), RunConfig.model_validate({"evaluation": {"linear_probe": True}})
    held_out = RunConfig.model_validate({"split": {"name": "classes", "validation": 0.2}})
    assert objective.chosen("linear/top-1", probed, known) == "linear/top-1"
    assert objective.reported("linear/top-1")
    with pytest.raises(BadConfig, match="have no 'linear/top-1'"):
        objective.chosen("linear/top-1", RunConfig(), known)
    assert [objective.of_paper("linear/top-1", config, known) for config in (probed, RunConfig())] == [
        "linear/top-1", "",
    ]  # fmt: skip
    assert [objective.of_paper("recall@1", config, known) for config in (probed, held_out)] == ["recall@1", ""]
    with pytest.raises(BadConfig, match="measured only after the last epoch"):
        planned(probed, [read("training.lr=0.1,0.2")], "grid", known, metric="linear/top-1", stop_early=True)


@pytest.mark.parametrize(
    ("metric", "least", "said"),
    [
        ("probe/ce", True, "0.5123"), ("probe/spce", True, "0.5123"), ("train/accuracy", False, "51.23%"),
        ("validation/MAP@R", False, "51.23%"), ("recall@1", False, "51.23%"),
    ],
)  # fmt: skip
def test_losses_are_best_low_and_in_nats_all_else_is_best_high_and_in_percent(metric, least, said):
    assert objective.least_is_best(metric) is least
    assert objective.written(metric, 0.51234) == said


@pytest.mark.parametrize("validation", [0.0, 0.2])
def test_the_best_objective_that_the_runs_have_is_taken_when_none_is_named(validation):
    config, known = (
        RunConfig.model_validate({"split": {"name": "classes", "validation": validation}}),
        catalog.current(),
    )
    held_out = bool(validation)
    best = "validation/MAP@R" if held_out else "MAP@R"
    assert objective.chosen("", config, known) == objective.chosen(best, config, known) == best
    assert objective.chosen("probe/ce", config, known) == "probe/ce"
    with pytest.raises(BadConfig, match="holds out classes" if held_out else "needs images held out"):
        objective.chosen("MAP@R" if held_out else "validation/MAP@R", config, known)


def test_a_recall_that_no_run_has_is_answered_with_those_that_they_have_in_order():
    config = RunConfig.model_validate({"evaluation": {"recall_at": "1 2 10"}})
    with pytest.raises(BadConfig, match=r"have no 'recall@4'\. Known: recall@1, recall@2, recall@10, MAP@R, "):
        objective.chosen("recall@4", config, catalog.current())


@pytest.mark.parametrize(
    ("varied", "named"),
    [
        ((), ""), (("training.lr", "loss.name"), ""), (("dataset.image_size", "dataset.colour"), ""),
        (("training.lr", "split.seed"), "split.seed"),
        (("dataset.folder", "dataset.fit", "split.seed"), "dataset.folder and split.seed"),
    ],
)  # fmt: skip
def test_fields_that_choose_the_searched_images_are_named_and_those_that_read_them_are_not(varied, named):
    said = objective.on_other_images(varied)
    assert said.startswith(f"The settings differ in {named}: where other images are searched") if named else said == ""


def test_a_sweep_of_batches_says_that_their_steps_differ():
    known = catalog.current()
    of_batches, of_rates = (
        planned(RunConfig(), [read(text)], "grid", known)
        for text in ("training.batch_size=32,64", "training.lr=0.1,0.2")
    )
    assert objective.on_other_steps(["training.batch_size"]) in of_batches.remarks
    assert "fewer steps" not in " ".join(of_rates.remarks)
