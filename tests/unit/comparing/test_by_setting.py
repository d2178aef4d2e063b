"""Runs by one setting: the settings that differ, and the group of each run."""

import pytest

from workbench.comparing.grouping.by_setting import UNREAD, settings_that_differ, titles_by
from workbench.config import RunConfig
from workbench.entries import catalog


def config(loss="contrastive", seed=0, training=None, **params):
    values = {"loss": {"name": loss, **params}, "seed": seed, "training": training or {}}
    return RunConfig.model_validate(values).to_toml()


def test_settings_with_several_values_are_named_as_the_form_names_them():
    configs = [config(margin=0.3), config(margin=0.5, training={"lr": 0.1}), config(margin=0.5, seed=1)]
    assert settings_that_differ(configs, catalog.current()) == [
        ("loss.margin", "Loss: Margin"),
        ("training.lr", "Training: Learning rate"),
    ]


def test_what_only_one_loss_has_differs_only_where_its_runs_have_several_values():
    known = catalog.current()
    fields = [field for field, _ in settings_that_differ([config(margin=0.3), config("ce")], known)]
    assert fields == ["loss.name"]
    fields = [field for field, _ in settings_that_differ([config(margin=0.3), config(margin=0.4), config("ce")], known)]
    assert fields == ["loss.name", "loss.margin"]


@pytest.mark.parametrize(
    ("field", "made", "title"),
    [
        ("loss.margin", {"margin": 0.3}, "Margin 0.3"),
        ("loss.margin", {}, "Margin 1"),
        ("loss.margin", {"loss": "ce"}, "Without margin"),
        ("training.batch_size", {"training": {"batch_size": 48}}, "Batch 48 images"),
        ("training.nesterov", {"training": {"nesterov": True}}, "Nesterov: yes"),
        ("training.optimiser", {"training": {"optimiser": "sgd"}}, "Optimiser: sgd"),
        ("training.label_decisions", {}, "Label decisions: empty"),
    ],
)
def test_a_group_is_named_by_its_value_also_where_that_is_the_default(field, made, title):
    one = config(**made)
    assert titles_by(field, [one, config(margin=0.9, seed=3)], catalog.current())[1][one] == title


def test_seeds_share_a_group_and_a_config_that_cannot_be_read_says_so():
    first, second = config(seed=0, margin=0.3), config(seed=1, margin=0.3)
    title, groups = titles_by("loss.margin", [first, second, "no = [toml"], catalog.current())
    assert title == "Loss: Margin"
    assert groups == {first: "Margin 0.3", second: "Margin 0.3", "no = [toml": UNREAD}
    assert settings_that_differ([first, "no = [toml"], catalog.current()) == []
