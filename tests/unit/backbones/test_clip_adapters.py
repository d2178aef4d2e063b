"""A CLIP tower trained through few weights: adapters and prompts, each against open_clip's own tower in float64."""

import pytest
import torch
from safetensors.torch import save_file

from tests.tiny_clip import BARE, clip_run, make_weights
from workbench.backbones.model import build_model
from workbench.config import TrainingParams
from workbench.control import Control
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.running.building import load_data
from workbench.running.engine import Engine

open_clip = pytest.importorskip("open_clip", reason="an optional package (extra clip)")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """A model of two small towers that open_clip knows, and its weights in a file."""
    return make_weights(tmp_path_factory.mktemp("clip"))


@pytest.fixture
def make(weights):
    def made(**params):
        whole = {"model": "tiny-clip", "weights": "file", "weights_file": str(weights[1]), **params}
        return build_model("clip", whole, BARE, 3).double().eval()

    return made


def images():
    return torch.rand(2, 3, 16, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def features(model):
    return model.backbone((images() - model.mean) / model.std)


def trained(model):
    return {name for name, weight in model.backbone.named_parameters() if weight.requires_grad}


def fill(model):
    """Random values in all that is trained."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.backbone.parameters():
            if weight.requires_grad:
                weight.copy_(torch.randn(weight.shape, generator=generator, dtype=weight.dtype))


def test_adapters_start_as_the_tower_and_add_their_product(make):
    plain, adapted = make(), make(lora_rank=2, lora_alpha=6.0)
    with torch.no_grad():
        torch.testing.assert_close(features(adapted), features(plain), rtol=1e-12, atol=1e-12)
    attention = "visual.transformer.resblocks.0.attn"
    ends = [f"{place}.{part}" for place in ("parametrizations.in_proj_weight.0", "out_proj") for part in ("down", "up")]
    assert trained(adapted) == {f"{attention}.{end}" for end in ends}
    fill(adapted)
    ours = adapted.backbone.visual.transformer.resblocks[0].attn
    merged = plain.backbone.visual.transformer.resblocks[0].attn
    with torch.no_grad():
        for weight, part in (
            (merged.in_proj_weight, ours.parametrizations.in_proj_weight[0]), (merged.out_proj.weight, ours.out_proj),
        ):  # fmt: skip
            weight += 6.0 / 2 * part.up @ part.down
        for mode in (False, True):
            torch.testing.assert_close(
                features(adapted.train(mode)), features(plain.train(mode)), rtol=1e-11, atol=1e-12
            )


@pytest.mark.parametrize("depth", ["deep", "shallow"])
def test_prompts_are_trained_tokens_beside_the_patches(make, depth):
    plain, prompted = make(), make(prompts=3, prompt_depth=depth)
    assert trained(prompted) == {"visual.transformer.resblocks.0.prompts"}
    fill(prompted)
    visual, prompts = plain.backbone.visual, prompted.backbone.visual.transformer.resblocks[0].prompts
    with torch.no_grad():
        entering = []
        visual.transformer.register_forward_pre_hook(lambda transformer, inputs: entering.append(inputs[0]))
        features(plain)
        tokens = torch.cat([prompts.expand(2, -1, -1), entering[0]], 1)
        tokens = visual.transformer.resblocks[0](tokens)[:, 3:]
        expected = visual.ln_post(tokens)[:, 0] @ visual.proj
        torch.testing.assert_close(features(prompted), expected, rtol=1e-11, atol=1e-12)


def test_computing_activations_twice_gives_the_same_gradient(make):
    gradients = []
    for on in (False, True):
        model = make(lora_rank=2, prompts=1, gradient_checkpointing=on).train()
        fill(model)
        features(model).square().sum().backward()
        gradients.append({name: weight.grad for name, weight in model.named_parameters() if weight.requires_grad})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        assert gradient.abs().max() > 0, name
        torch.testing.assert_close(gradients[1][name], gradient, rtol=1e-12, atol=1e-12)


def test_layers_by_depth_hold_each_parameter_once(make):
    backbone = make().backbone
    before, block, rest = backbone.layer_groups()
    names = {id(weight): name for name, weight in backbone.named_parameters()}
    assert {names[id(weight)] for weight in before} == {
        "visual.class_embedding", "visual.positional_embedding", "visual.conv1.weight", "visual.ln_pre.weight",
        "visual.ln_pre.bias",
    }  # fmt: skip
    assert all(names[id(weight)].startswith("visual.transformer.resblocks.0.") for weight in block)
    assert {names[id(weight)] for weight in rest} == {"visual.ln_post.weight", "visual.ln_post.bias", "visual.proj"}
    assert len(before) + len(block) + len(rest) == len(names)


def test_the_trained_part_of_a_run_is_put_into_another_tower(make, tmp_path):
    first = make(lora_rank=2)
    fill(first)
    part = {f"backbone.{name}": weight for name, weight in first.backbone.named_parameters() if weight.requires_grad}
    save_file({name: weight.detach().float() for name, weight in part.items()}, tmp_path / "part.safetensors")
    again = make(lora_rank=2, trained_file=str(tmp_path / "part.safetensors"))
    with torch.no_grad():
        torch.testing.assert_close(features(again), features(first.float().double()), rtol=1e-5, atol=1e-6)
    with pytest.raises(Problem, match="does not match the trained weights"):
        make(lora_rank=3, trained_file=str(tmp_path / "part.safetensors"))


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"model": "RN50", "prompts": 2}, "'RN50' has no sequence of tokens for prompts"),
        ({"model": "RN50", "gradient_checkpointing": True}, "'RN50' has no gradient checkpointing"),
        ({"frozen": True, "lora_rank": 2}, "is frozen, and would train adapters or prompts"),
    ],
)
def test_what_cannot_be_is_a_sentence(weights, params, said):
    with pytest.raises(Problem, match=said):
        build_model("clip", {"model": "tiny-clip", "image_size": 0, **params}, BARE, 3)


def test_a_run_of_adapters_with_averaged_weights_resumes_exactly(weights, tmp_path):
    adapted = {"frozen": False, "lora_rank": 2, "prompts": 2, "gradient_checkpointing": True}
    training = TrainingParams(epochs=2, batch_size=256, weight_average=0.9, layer_decay=0.5)
    config = clip_run(weights[1], backbone=adapted).model_copy(update={"training": training})
    data = load_data(config, quiet)

    def engine(name):
        (tmp_path / name).mkdir()
        return Engine(config, data, tmp_path / name, Control(), lambda event: None)

    whole = engine("whole")
    whole.run()
    first = engine("first")  # which seeds the random numbers anew
    first.control.stop()
    first.run()
    second = engine("second")
    second.resume(tmp_path / "first" / "last.pt")
    second.run()
    others = second.parts.model.state_dict()
    for name, value in whole.parts.model.state_dict().items():
        assert torch.equal(value, others[name]), name
    averaged = whole.parts.average.module.state_dict()
    assert any(not torch.equal(value, others[name]) for name, value in averaged.items()), "a copy of its own"
