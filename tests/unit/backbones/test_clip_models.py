"""CLIP towers of open_clip: the image tower as a backbone, and a search by words beside it."""

import json
import re

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from tests.tiny_clip import BARE, clip_run, make_weights
from workbench.backbones.model import build_model
from workbench.cli import cli
from workbench.config import EmbeddingParams, RunConfig
from workbench.control import Control
from workbench.problem import Problem
from workbench.running import launch
from workbench.running.search.text_scores import sentence_of, text_scores
from workbench.running.search.text_search import refusal, search_texts
from workbench.workspace import Workspace

open_clip = pytest.importorskip("open_clip", reason="an optional package (extra clip)")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """A model of two small towers that open_clip knows, and its weights in a file."""
    return make_weights(tmp_path_factory.mktemp("clip"))


def made(path, channels=3, **params):
    return build_model("clip", {"model": "tiny-clip", "weights": "file", "weights_file": str(path), **params}, BARE,
                       channels)  # fmt: skip


@pytest.mark.parametrize("channels", [1, 3])
def test_both_towers_give_what_open_clip_gives(weights, channels):
    whole, path = weights
    model, images = made(path, channels).eval(), torch.rand(2, channels, 16, 16)
    assert model.backbone.mean == pytest.approx(
        whole.visual.preprocess_cfg["mean"] if channels == 3 else [sum(whole.visual.preprocess_cfg["mean"]) / 3]
    )
    with torch.no_grad():
        normal = ((images - model.mean) / model.std).expand(-1, 3, -1, -1)
        torch.testing.assert_close(model(images), whole.encode_image(normal))
        words = open_clip.get_tokenizer("tiny-clip")(["a red car", "seven"])
        expected = whole.encode_text(words, normalize=True)
    torch.testing.assert_close(model.backbone.embed_texts(["a red car", "seven"]), expected)
    assert not any("text" in name or "token_embedding" in name for name in model.state_dict()), "images alone"


def test_positions_are_resized_and_the_tower_can_be_frozen(weights):
    model = made(weights[1], image_size=32, frozen=True)
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 12)
    assert not any(weight.requires_grad for weight in model.backbone.parameters())
    with pytest.raises(Problem, match="takes images of 32 px, not of 16"):
        model(torch.rand(2, 3, 16, 16))


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"model": "ViT-B-33"}, "is not a model of open_clip.*Similar names: ViT-B-"),
        ({"weights": "file", "weights_file": ""}, "No weights file"),
        ({"model": "ViT-S-32", "weights": "cache", "tag": "none"}, "has no weights 'none' on the hub"),
        ({"model": "RN50", "weights": "cache", "tag": "openai"}, "another activation.*RN50-quickgelu"),
    ],
)
def test_what_cannot_be_is_a_sentence(weights, params, said):
    with pytest.raises(Problem) as caught:
        build_model("clip", params, BARE, 3)
    assert re.search(said, str(caught.value))


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("workbench.backbones.clip_models.find_spec", lambda name: None)
    with pytest.raises(Problem, match=r"install the extra clip with pip"):
        build_model("clip", {}, BARE, 3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""), ({"backbone": {"weights": "none"}}, "was not pretrained"),
        ({"embedding": EmbeddingParams(dim=4)}, "from a trained head"), ({"distance": "l2"}, "by Euclidean distance"),
        ({"backbone": {"frozen": False}}, "no longer goes with the one for words"),
    ],
)  # fmt: skip
def test_words_are_compared_only_with_what_they_were_trained_with(weights, changes, said):
    assert said in refusal(clip_run(weights[1], **changes)) if said else not refusal(clip_run(weights[1]))
    assert "no tower for words" in refusal(RunConfig())


def test_a_run_says_that_the_package_of_its_tower_for_words_is_missing(weights, monkeypatch):
    monkeypatch.setattr("workbench.files.packages.find_spec", lambda name: None)
    said = "its tower for words needs open_clip: install the extra clip with pip (page Install)."
    assert refusal(clip_run(weights[1])) == said


def test_a_class_is_asked_for_by_its_plain_name():
    assert sentence_of("002.Laysan_Albatross") == "a photo of a Laysan Albatross"
    assert sentence_of("felid/lynx", "a {} in snow") == "a lynx in snow"
    assert sentence_of("7") == "a photo of a 7"


def test_a_run_is_searched_by_words(weights, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = launch.prepare_run(clip_run(weights[1]), workspace)
        launch.make_job(workspace, run_id, Control()).start().join()
        assert workspace.run(run_id).status == "done", workspace.run(run_id).problem
        (answer,) = search_texts(workspace, run_id, ["seven"], k=3)
        ids, labels, stored = workspace.embeddings(workspace.evaluations(run_id)[-1].id)
        scored = text_scores(workspace, run_id, "digit {}")
        with pytest.raises(Problem, match=r"has no \{"):
            text_scores(workspace, run_id, "digit")
    scores = torch.nn.functional.normalize(torch.tensor(stored)) @ made(weights[1]).backbone.embed_texts(["seven"])[0]
    assert [near.sample_id for near in answer.neighbours] == ids[scores.argsort(descending=True)[:3].numpy()].tolist()
    assert answer.neighbours[0].similarity == pytest.approx(scores.max().item(), abs=1e-5)
    asked = made(weights[1]).backbone.embed_texts([f"digit {label}" for label in range(10)])
    ranked = labels[(asked @ torch.nn.functional.normalize(torch.tensor(stored)).T).argsort(1, True).numpy()]
    assert scored["queries"] == 10
    assert scored["recall@1"] == pytest.approx(np.mean(ranked[:, 0] == np.arange(10)))
    first_r = [row[: (labels == label).sum()] == label for label, row in enumerate(ranked)]
    precise = [np.cumsum(hits) / np.arange(1, len(hits) + 1) for hits in first_r]
    assert scored["MAP@R"] == pytest.approx(np.mean([(p * h).mean() for p, h in zip(precise, first_r, strict=True)]))
    words = ["search", str(run_id), "--class-names", "digit {}", "-w", str(tmp_path / "space")]
    said = CliRunner().invoke(cli, words).output
    assert "10 classes searched by name" in said
    assert f"MAP@R  {scored['MAP@R']:7.2%}" in said
    words = ["search", str(run_id), "--text", "seven", "--k", "2", "--json", "-w", str(tmp_path / "space")]
    said = json.loads(CliRunner().invoke(cli, words).output)
    assert said["results"][0]["text"] == "seven"
    assert re.fullmatch(r"tiny-clip with the weights weights\.safetensors \([0-9a-f]{8}\)", said["words_by"])
    assert len(said["results"][0]["neighbours"]) == 2
    said = CliRunner().invoke(cli, [*words, "picture.png"])
    assert "Name images, or words with --text" in said.output
    weights[1].write_bytes(weights[1].read_bytes() + b" ")
    said = CliRunner().invoke(cli, words)
    assert said.exit_code
    assert "not a weights file" in said.output or "have changed" in said.output
