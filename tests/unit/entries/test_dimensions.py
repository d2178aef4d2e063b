"""Sizes of an embedding that go with a choice and a number of classes, as form and engine read them from one rule."""

import pytest

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.entries import catalog
from workbench.entries.dimensions import nearest, refusal
from workbench.events import Noted
from workbench.losses import build_loss
from workbench.losses.psce import DIMENSIONS
from workbench.problem import Problem
from workbench.running.launch import make_job, prepare_run
from workbench.running.preflight import count_classes, preflight
from workbench.workspace import Workspace


@pytest.mark.parametrize("choice", ["canonical", "simplex", "repelling", "random", "auto"])
@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("size", [1, 2, 8, 9, 10, 11])
def test_the_rule_refuses_exactly_what_the_loss_refuses(choice, classes, size):
    said = refusal(DIMENSIONS, choice, classes, size)
    if said:
        with pytest.raises(Problem, match=said) as caught:
            build_loss("psce", num_classes=classes, embedding_dim=size, prototypes=choice)
        assert caught.value.field == "embedding.dim"
        fits = nearest(DIMENSIONS, choice, classes, size)
        assert not fits or refusal(DIMENSIONS, choice, classes, fits) == ""
    else:
        loss = build_loss("psce", num_classes=classes, embedding_dim=size, prototypes=choice)
        assert loss.prototypes.shape == (classes, size)
        assert nearest(DIMENSIONS, choice, classes, size) == size


def test_a_config_is_refused_once_its_classes_are_known():
    known = catalog.current()
    config = RunConfig(loss=Choice(name="psce", params={"prototypes": "simplex"}), embedding=EmbeddingParams(dim=4))
    assert config.check(known) == {}
    assert config.check(known, 5) == {}
    said = {"embedding.dim": "Simplex prototypes of 6 classes need 5 or more dimensions, not 4."}
    assert config.check(known, 6) == said
    own = config.model_copy(update={"embedding": EmbeddingParams(dim=0)})
    assert own.check(known, 6) == {}, "the backbone's own size is known when it is built"


@pytest.mark.parametrize(
    ("loss", "size", "warned"),
    [("psce", 18, True), ("psce", 17, False), ("psce", 0, False), ("tsc", 100, True), ("ce", 100, False)],
)
def test_dimensions_that_learn_nothing_are_warned_of_under_batch_norm(loss, size, warned):
    known = catalog.current()
    config = RunConfig(loss=Choice(name=loss), embedding=EmbeddingParams(dim=size), training={"views": 1})
    found = config.warnings(known, 10)
    assert list(found) == (["embedding.dim"] if warned else [])
    assert not warned or f"9 of these {size} dimensions tell 10 classes apart" in found["embedding.dim"]
    assert config.warnings(known, None) == {}
    plain = config.model_copy(update={"embedding": EmbeddingParams(dim=size, batch_norm=False)})
    assert plain.warnings(known, 10) == {}
    canonical = Choice(name="psce", params={"prototypes": "random"})
    assert config.model_copy(update={"loss": canonical}).warnings(known, 10) == {}


def test_a_run_that_was_warned_of_keeps_the_warning_in_its_note(tmp_path):
    config = RunConfig(
        device="cpu", loss=Choice(name="psce"), training=TrainingParams(epochs=1, batch_size=512),
        evaluation=EvaluationParams(probe_size=0, untrained=False),
    )  # fmt: skip
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id, heard = prepare_run(config, workspace), []
        make_job(workspace, run_id, Control(), heard.append).start().join()
        said = "embedding.dim: 9 of these 100 dimensions tell 10 classes apart"
        assert workspace.run(run_id).note.startswith(said)
    assert next(each.text for each in heard if isinstance(each, Noted)).startswith(said), (
        "a terminal tells what is noted"
    )


def test_preflight_counts_the_classes_before_it_builds_anything_and_names_the_field():
    counted = []
    config = RunConfig(device="cpu", loss=Choice(name="psce", params={"prototypes": "canonical"}))
    with pytest.raises(Problem, match="need 10 dimensions, not 100") as caught:
        preflight(config, counted=counted.append)
    assert counted == [10]
    assert caught.value.field == "embedding.dim"


def test_classes_are_counted_without_building_anything(monkeypatch):
    def build(*_):
        raise AssertionError("a network was built")

    monkeypatch.setattr("workbench.running.engine.Engine", build)
    told = []
    assert count_classes(RunConfig(), lambda text, done, total: told.append(text)) == 10
    assert count_classes(RunConfig(split=Choice(name="classes")), lambda *_: None) == 5
