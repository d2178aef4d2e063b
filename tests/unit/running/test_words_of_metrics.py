"""What a run stores has a name in words wherever a person chooses from it."""

import pytest

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.machine_load import DISK, GPU_LOAD, GPU_MEMORY, LIMITS, MEMORY, POWER, PROCESSOR, TEMPERATURE
from workbench.metric_names import TITLES, metric_name
from workbench.running import launch
from workbench.training.meter import SYSTEM
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

CONFIG = RunConfig(
    device="cpu", backbone=Choice(name="conv4", params={"width": 8}), embedding=EmbeddingParams(dim=8),
    split=Choice(name="classes", params={"validation": 0.2}),
    loss=Choice(name="ccp", params={"proxies": 2, "pool": 4, "check_every": 3}),
    sampler=Choice(name="classes_images", params={"images_per_class": 8}),
    training=TrainingParams(epochs=1, batch_size=32),
    evaluation=EvaluationParams(
        probe_size=60, probe_every=2, anatomy_every=4, neighbours=5, nmi=True, other_distance=True
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The names of all scalars and metrics of a run."""
    with Workspace(tmp_path_factory.mktemp("words") / "space", create=True) as workspace:
        run_id = launch.prepare_run(CONFIG, workspace)
        recorder = Recorder(workspace, run_id)
        launch.run(workspace, run_id, Control(), recorder, recorder)
        recorder.close()
        metrics = {name for evaluation in workspace.evaluations(run_id) for name in evaluation.metrics}
        return sorted(metrics - {name for name in metrics if name.endswith(("/low", "/high"))}), workspace.scalar_names(
            run_id
        )


def test_every_metric_and_scalar_of_a_run_has_words(stored):
    metrics, scalars = stored
    load = [*(f"{SYSTEM}{name}" for name in (PROCESSOR, MEMORY, DISK, GPU_LOAD, GPU_MEMORY, POWER, TEMPERATURE))]
    limits = [f"{SYSTEM}{name}" for name in LIMITS.values()]
    for names in (metrics, [*scalars, *load, *limits]):
        shown = {name: metric_name(name) for name in set(names)}
        assert not {name for name, words in shown.items() if "/" in words.replace("bytes/s", "")} - {"queries/left_out"}
        assert len(set(shown.values())) == len(shown)
    assert "recall@1" in metrics
    assert "anatomy/entropy/within" in scalars
    assert any(name.startswith("projection/") for name in scalars)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@1", "R@1"),
        ("test/recall@4", "R@4, test set"),
        ("l2/MAP@R", "MAP@R by L2 distance"),
        ("level/genus/recall@1", "R@1 by genus"),
        ("system/limit/gpu_memory", "Limit: Memory of the GPU, bytes"),
        ("mine/own", "mine/own"),
    ],
)
def test_names_that_are_made_of_others(name, expected):
    assert metric_name(name) == expected


def test_no_two_names_have_the_same_words():
    assert len(set(TITLES.values())) == len(TITLES)
