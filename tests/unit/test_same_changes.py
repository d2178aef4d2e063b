"""The same changes in several configs: names that say so, and each of those that are alike once."""

import pytest

from workbench.config import BadConfig, RunConfig
from workbench.entries import catalog
from workbench.settings.changed import parted
from workbench.settings.same_changes import changed_alike


def texts_of(*values):
    return [(f"Config {number}", RunConfig.model_validate(one).to_toml()) for number, one in enumerate(values)]


def test_each_config_keeps_its_other_settings_and_is_named_by_the_changes():
    configs = texts_of(
        {"name": "Digits, lr 0.1, seed 3", "seed": 3, "loss": {"name": "ce"}},
        {"name": "Marks", "seed": 4, "loss": {"name": "norm_ce"}},
    )
    changed, alike = changed_alike(configs, parted(["seed=8", "training.lr=1e-3"]), catalog.current())
    assert [config.name for config in changed] == ["Digits, seed 8, lr 1e-3", "Marks, seed 8, lr 1e-3"]
    assert [(config.seed, config.training.lr, config.loss.name) for config in changed] == [
        (8, 0.001, "ce"),
        (8, 0.001, "norm_ce"),
    ]
    assert alike == 0


def test_what_becomes_alike_is_trained_once():
    configs = texts_of(*({"name": f"Digits, seed {seed}", "seed": seed} for seed in range(3)), {"training": {"lr": 1}})
    changed, alike = changed_alike(configs, parted(["seed=8"]), catalog.current())
    assert ([config.name for config in changed], alike) == (["Digits, seed 8"] * 2, 2)


def test_a_number_that_is_added_to_the_seeds_keeps_them_apart():
    configs = texts_of(*({"name": f"Digits, seed {seed}", "seed": seed} for seed in range(3)))
    changed, alike = changed_alike(configs, parted(["seed+=5", "training.lr=1"]), catalog.current())
    assert ([config.seed for config in changed], alike) == ([5, 6, 7], 0)
    assert [config.name for config in changed] == [f"Digits, lr 1, seed {seed}" for seed in (5, 6, 7)]


def test_a_name_that_is_given_is_taken_as_it_is():
    configs = texts_of({"training": {"lr": 1}}, {"training": {"lr": 2}})
    changed, _ = changed_alike(configs, parted(["name=2026"]), catalog.current())
    assert [config.name for config in changed] == ["2026", "2026"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("lr", "lr: Write it as FIELD=VALUE."),
        ("training.rate=1", "training.rate: There is no such field."),
        ("training.lr=much", "training.lr: Must be a number."),
        ("training.lr=0,05", "training.lr: Must be a number with a point, not a comma: 0.05."),
        ("seed+=much", "seed: Write it as seed+=NUMBER, with a whole number."),
        ("seed+=-1", "seed: Write it as seed+=NUMBER, with a whole number."),
        ("seed+=4294967295", "seed: Write it as seed+=NUMBER, with a whole number."),
    ],
)
def test_a_wrong_change_is_refused_with_its_field(line, said):
    with pytest.raises(BadConfig) as refused:
        changed_alike(texts_of({}), parted([line]), catalog.current())
    assert said in str(refused.value)


def test_a_seed_is_set_or_added_to():
    with pytest.raises(BadConfig, match=r"seed: Write either seed=NUMBER or seed\+=NUMBER\."):
        changed_alike(texts_of({}), parted(["seed=1", "seed+=1"]), catalog.current())
