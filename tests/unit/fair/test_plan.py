"""Every loss gets the same conditions: folds of training classes, batches, steps; only its declared fields differ."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from workbench.config import BadConfig
from workbench.entries import catalog
from workbench.fair import plan as plans
from workbench.fair.plan import CONDITIONS, planned, search_space, seeds_and_folds, tuning_config, value_of
from workbench.problem import Problem
from workbench.running import preflight

KNOWN = catalog.current()
DATA = Path("data")
METHODS = sorted(catalog.names(KNOWN, "loss"))


@pytest.fixture(autouse=True)
def _no_data(monkeypatch):
    monkeypatch.setattr(preflight, "steps_per_epoch", lambda config, progress: 30)


@cache
def of_ce(bench):
    return tuning_config(planned(bench, DATA, 16, 5), "ce", KNOWN)


@pytest.mark.parametrize("bench", CONDITIONS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_tuned_on_folds_under_the_same_conditions(bench, method):
    plan = planned(bench, DATA, 16, 5)
    config = tuning_config(plan, method, KNOWN)
    assert config.check(KNOWN) == {}
    assert config.holds_out(KNOWN), "settings are chosen on held-out training classes"
    assert config.fact(KNOWN, "split", "classes_disjoint")
    assert config.folds(KNOWN) == (0, plan.folds), "every fold"
    other = of_ce(bench)
    if config.fact(KNOWN, "loss", "of_images"):  # as many rows in a batch, of half as many images
        assert (config.training.views, config.training.batch_size * 2) == (2, other.training.batch_size)
        same = {"batch_size": other.training.batch_size, "keep_features": other.training.keep_features}
        assert not config.training.keep_features, "views are of images"
        alike = config.training.model_copy(update={"views": 1, **same})
        assert config.fact(KNOWN, "augmentation", "changes"), "two views differ"
        config = config.model_copy(update={"training": alike, "augmentation": other.augmentation})
    for part in ("dataset", "split", "backbone", "embedding", "augmentation", "training", "evaluation"):
        assert getattr(config, part) == getattr(other, part), part
    assert (config.training.epochs, config.evaluation.every) == (10, 10), "300 steps of 30, looked at once"
    assert config.loss.params == {}, "nothing that was measured on the test set"
    parameters, first = search_space(config, KNOWN)
    assert {each.field for each in parameters} == set(first)
    assert "training.lr" in first
    assert first == {field: value_of(config, field, KNOWN) for field in first}


def test_the_best_setting_runs_over_new_seeds_whose_folds_change(tmp_path):
    plan = planned("omniglot", tmp_path, 16, 5, steps=300, folds=2)
    tuned = tuning_config(plan, "ice", KNOWN)
    config = plans.test_config(plan, tuned, {"loss.scale": 16.0, "training.lr": 0.003}, KNOWN)
    assert config.loss.params == {"scale": 16.0}
    assert (config.training.lr, config.seed, config.seeds) == (0.003, 1, 5)
    assert config.seed > tuned.seed, "no seed that was tuned on"
    assert config.evaluation.every == 2
    assert seeds_and_folds(plan) == [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1)]


def test_a_field_that_the_bench_fixes_otherwise_is_not_tuned(tmp_path):
    config = tuning_config(planned("mnist", tmp_path, 4, 3), "spce", KNOWN)
    assert config.sampler.params["images_per_class"] == 32
    parameters, first = search_space(config, KNOWN)
    assert [each.field for each in parameters] == ["training.lr", "embedding.batch_norm"]
    assert first["embedding.batch_norm"] is True


def test_what_is_asked_for_changes_every_run(tmp_path):
    plan = planned("omniglot", tmp_path, 4, 3, steps=90, changes={"backbone.width": 8})
    config = tuning_config(plan, "ce", KNOWN)
    assert (config.backbone.params["width"], config.training.epochs) == (8, 3)
    with pytest.raises(BadConfig, match="wideness"):
        tuning_config(replace(plan, changes={"backbone.wideness": 8}), "ce", KNOWN)


def test_a_loss_without_a_search_space_is_refused(tmp_path):
    config = tuning_config(planned("omniglot", tmp_path, 4, 3), "ce", KNOWN)
    bare = {**KNOWN, "loss/ce": {**KNOWN["loss/ce"], "facts": {**KNOWN["loss/ce"]["facts"], "search": {}}}}
    with pytest.raises(Problem, match="'ce' declares no search space"):
        search_space(config, bare)
