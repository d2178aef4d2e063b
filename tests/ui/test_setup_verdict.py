"""Whether the run that is set up can start, without the page."""

import pytest

from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.settings.changed import read_config
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.verdict import NO_VERDICT, judged


@pytest.fixture
def draft():
    return Draft(catalog.current(), read_config("sample-digits"))


def test_a_preset_that_needs_no_data_can_start(draft):
    verdict = judged(draft, None)
    assert verdict.ready == verdict.config is not None
    assert (verdict.errors, verdict.bad_paths, verdict.reasons, verdict.trouble) == ({}, [], [], "")


def test_wrong_fields_are_counted_in_the_order_of_the_form(draft):
    draft.set("training.epochs", 0)
    draft.set("embedding.dim", "many")
    verdict = judged(draft, None)
    assert verdict.config is verdict.ready is None
    assert verdict.bad_paths == ["embedding.dim", "training.epochs"]
    assert verdict.trouble == "2 fields must be changed: Embedding size, Epochs."
    draft.set("training.batch_size", 0)
    draft.set("training.lr", "fast")
    assert judged(draft, None).trouble.startswith("4 fields must be changed: Embedding size, Epochs, Batch and 1 more.")


def test_weights_that_are_not_read_are_warned_of_and_the_run_can_start():
    backbone = Choice(name="squeezenet1_0", params={"weights_file": "mine.pth"})
    verdict = judged(Draft(catalog.current(), RunConfig(backbone=backbone)), None)
    assert verdict.ready is not None
    assert verdict.warnings == ("Weights file: This file is not read, because Weights is none: set it to file.",)


def test_a_config_whose_data_is_not_there_can_be_saved_but_not_started(draft, tmp_path):
    draft.set("dataset.name", "folder")
    draft.set("dataset.folder", str(tmp_path / "gone"))
    verdict = judged(draft, None)
    assert verdict.config is not None
    assert verdict.ready is None
    assert "There is no" in verdict.reasons[0]
    assert verdict.trouble == "1 field must be changed: Folder or archive."


def test_a_path_that_was_typed_from_the_working_folder_on_is_whole_in_the_run(draft, tmp_path, monkeypatch):
    (tmp_path / "birds").mkdir()
    monkeypatch.chdir(tmp_path)
    draft.set("dataset.name", "folder")
    draft.set("dataset.folder", "birds")
    assert judged(draft, None).ready.dataset.params["folder"] == str(tmp_path / "birds")


def test_what_preflight_refused_counts_while_the_config_is_the_same(draft):
    config = judged(draft, None).config
    refused = (config, Problem("Too large."))
    assert judged(draft, refused).reasons == ["Too large."]
    assert judged(draft, refused).trouble == "", "the card says it"
    at_a_field = judged(draft, (config, Problem("Too large.", field="embedding.dim")))
    assert at_a_field.bad_paths == ["embedding.dim"]
    draft.set("training.epochs", 3)
    assert judged(draft, refused).reasons == []
    assert NO_VERDICT.ready is None


@pytest.mark.parametrize(
    ("field", "fits", "words"),
    [("training.batch_size", 58, "Use 58"), ("training.compile_backbone", False, "Turn off")],
)
def test_a_value_that_fits_is_offered_with_one_click(draft, field, fits, words):
    config = judged(draft, None).config
    verdict = judged(draft, (config, Problem("Too large.", field=field, fits=fits)))
    assert verdict.repair == (words, field, fits)


def test_a_download_is_allowed_with_one_click(draft):
    draft.set("backbone.name", "resnet18")
    draft.set("backbone.weights", "cache")
    config = judged(draft, None).config
    verdict = judged(draft, (config, Problem("No weights.", field="backbone.download", fits=True)))
    assert verdict.repair == ("Turn on", "backbone.download", True)
    assert verdict.trouble == "No weights.", "what the button does must be known: size and host are in the sentence"


@pytest.mark.parametrize(
    ("devices", "fits", "repair"),
    [
        ("cpu,cpu", 45, ("Use 44", "training.batch_size", 44)),
        ("cpu", 4, None),
        ("cpu,cpu,cpu", 16, ("Use 16", "training.batch_size", 16)),
    ],
)
def test_a_batch_is_offered_only_as_the_config_takes_it(draft, devices, fits, repair):
    draft.set("device", devices)
    draft.set("training.batch_size", 96)
    draft.set("loss.name", "contrastive")
    draft.set("sampler.name", "classes_images")
    config = judged(draft, None).config
    assert config is not None, judged(draft, None).reasons
    verdict = judged(draft, (config, Problem("Too large.", field="training.batch_size", fits=fits)))
    assert verdict.repair == repair
    if repair is not None:
        draft.set(repair[1], repair[2])
        assert judged(draft, None).reasons == []


def test_the_nearest_name_of_a_model_is_offered_with_one_click(draft):
    draft.set("backbone.name", "timm")
    draft.set("backbone.model", "convnxt_ato")
    config = judged(draft, None).config
    verdict = judged(draft, (config, Problem("No such model.", field="backbone.model", fits="convnext_atto")))
    assert verdict.bad_paths == ["backbone.model"]
    assert verdict.repair == ("Use convnext_atto", "backbone.model", "convnext_atto")
