"""The name of a run of the command line says what `--set` changed, as the form of the window names it."""

import os
import sys

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.running import folds_and_seeds, launch
from workbench.settings.changed import read_config, read_config_and_base
from workbench.ui.pages.setup.model.draft import Draft
from workbench.workspace import Workspace

LIKE_THE_FORM = [
    {"loss.name": "norm_ce"},
    {"loss.name": "ice", "sampler.name": "classes_images", "training.epochs": 4},
    {"training.lr": 0.5, "embedding.batch_norm": False},
    {"split.name": "classes", "embedding.dim": 32},
    {"backbone.name": "timm", "backbone.model": "convnext_atto"},
    {"dataset.name": "mnist", "loss.name": "proxy_anchor"},
    {"dataset.image_size": 32},
    {"device": "cpu", "seeds": 3},
]


def set_by(changes):
    words = {True: "true", False: "false"}
    return tuple(f"{path}={words.get(value, value)}" for path, value in changes.items())


@pytest.mark.parametrize("changes", LIKE_THE_FORM, ids=str)
def test_a_run_is_named_as_the_form_names_it(changes):
    made = Draft(catalog.current(), read_config("sample-digits"))
    for path, value in changes.items():
        made.set(path, value)
    assert read_config("sample-digits", set_by(changes)).name == made.value("name")


def test_a_name_that_is_set_stays():
    assert read_config("sample-digits", ("name=Mine", "loss.name=norm_ce")).name == "Mine"
    assert read_config("sample-digits").name == read_config("sample-digits", ("device=cpu",)).name == "Sample: Digits"


def test_the_runs_of_a_loop_have_different_names():
    fixed = ("training.epochs=3", "training.batch_size=16", "embedding.dim=32", "split.name=classes")
    rates = [read_config("sample-digits", (*fixed, f"training.lr={rate}")).name for rate in (0.1, 0.2)]
    assert rates[0].endswith(", learning rate 0.1")
    assert rates[1].endswith(", learning rate 0.2")
    seeds = [read_config("sample-digits", (f"seed={seed}",)).name for seed in (0, 1, 2)]
    assert seeds == ["Sample: Digits", "Sample: Digits, seed 1", "Sample: Digits, seed 2"]
    several = read_config("sample-digits", ("seed=4", "seeds=2"))
    assert [child.config.name for child in folds_and_seeds.children(several)] == [
        "Sample: Digits, seed 4", "Sample: Digits, seed 5",
    ]  # fmt: skip


def test_what_a_name_says_of_seed_and_fold_stays_while_it_is_true(tmp_path):
    config = read_config("sample-digits", ("split.name=mlrc", "split.fold=2", "seed=3", "name=ICE, seed 3, fold 2"))
    config.to_toml(tmp_path / "one.toml")
    path = str(tmp_path / "one.toml")
    assert read_config(path).name == "ICE, seed 3, fold 2"
    assert read_config(path, ("training.epochs=4",)).name == "ICE, epochs 4, seed 3, fold 2"
    assert read_config(path, ("seed=5",)).name == "ICE, seed 5, fold 2"


def test_a_name_with_many_changes_has_room_for_seed_and_fold():
    fields = ("training", "embedding", "evaluation")
    config = RunConfig()
    without = ("clip_decay", "keep_features", "nesterov")  # which need other settings
    changes = [
        f"{part}.{name}=true"
        for part in fields
        for name, value in getattr(config, part)
        if value is False and name not in without
    ]
    named = read_config("sample-digits", (*changes, "training.optimiser=sgd", "training.momentum=0.8", "seed=12345"))
    assert len(named.name) <= 200
    assert named.name.endswith(" more changed, seed 12345")


def test_a_file_without_a_name_gives_its_own(tmp_path):
    path = tmp_path / "night 3.toml"
    path.write_text('loss = "norm_ce"\n', "utf-8")
    named, earlier = read_config_and_base(str(path), ("training.epochs=4",))
    assert (named.name, earlier.name) == ("night 3, epochs 4", "Digits")
    assert named == earlier.model_copy(update={"name": named.name})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes with a path in the file system")
def test_a_pipe_without_a_name_is_named_by_its_settings(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, b'loss = "norm_ce"\n')
    os.close(writing)
    try:
        assert read_config(f"/dev/fd/{reading}").name == "Normalised CE"
    finally:
        os.close(reading)


@pytest.mark.parametrize("more", [(), ("seeds=2",)])
def test_resume_continues_a_run_that_version_0_1_named(more, tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "run", lambda *_, **__: None)
    changes = ("training.epochs=7", *more)
    _, earlier = read_config_and_base("sample-digits", changes)
    with Workspace(tmp_path, create=True) as workspace:
        numbers = folds_and_seeds.prepare(earlier, workspace)
        for run_id in numbers:
            workspace.set_status(run_id, "interrupted")
    words = [word for change in changes for word in ("--set", change)]
    resumed = CliRunner().invoke(cli, ["run", "sample-digits", *words, "--resume", "-w", str(tmp_path), "--quiet"])
    assert f"Run {numbers[0]} " in resumed.stdout, resumed.output
    with Workspace(tmp_path) as workspace:
        assert sorted(run.id for run in workspace.runs()) == numbers
