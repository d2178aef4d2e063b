"""timm's models: pooling, sizes, frozen parts, adapters, and weights from a file."""

import copy

import pytest
import timm
import torch
from safetensors.torch import save_file

from workbench.backbones.lora import LoRALinear, add_lora
from workbench.backbones.model import build_model
from workbench.backbones.pooling import GeM
from workbench.backbones.prompts import add_prompts
from workbench.config import EmbeddingParams, TrainingParams
from workbench.losses.contract import Loss
from workbench.problem import Problem
from workbench.training.optimisers import build_optimiser

BARE = EmbeddingParams(dim=0, batch_norm=False)
TINY = "test_vit"  # timm's own for tests: 64 features, 6 blocks of patches of 16 px


def made(channels=3, **params):
    torch.manual_seed(0)
    return build_model("timm", {"model": TINY, **params}, BARE, channels)


@pytest.mark.parametrize("name", ["test_vit", "test_vit3", "test_convnext", "test_efficientnet", "test_mambaout"])
@pytest.mark.parametrize("pooling", ["model", "mean"])
def test_every_family_gives_features_at_a_size_it_was_not_pretrained_at(name, pooling):
    model = made(model=name, pooling=pooling).eval()
    with torch.no_grad():
        found = model(torch.rand(2, 3, 96, 96))
    assert found.shape == (2, model.backbone.feature_dim)
    assert torch.isfinite(found).all()


def test_pools_are_what_they_say():
    images = torch.rand(2, 3, 64, 64)
    model = made(pooling="token").eval()
    normal = (images - model.mean) / model.std
    tokens = model.backbone.model.forward_features(normal)
    assert tokens.shape == (2, 17, 64)
    torch.testing.assert_close(model(images), tokens[:, 0])
    torch.testing.assert_close(made(pooling="mean").eval()(images), tokens[:, 1:].mean(1))
    torch.testing.assert_close(made(pooling="max").eval()(images), tokens[:, 1:].amax(1))
    gem = tokens[:, 1:].clamp_min(1e-6).pow(3).mean(1).pow(1 / 3)
    torch.testing.assert_close(made(pooling="gem").eval()(images), gem)


def test_the_generalised_mean_of_zeros_has_a_gradient_in_float16():
    pool, places = GeM(), torch.zeros(2, 5, 8, dtype=torch.float16, requires_grad=True)
    with torch.autocast("cpu", torch.float16):
        pooled = pool(places)
    pooled.sum().backward()
    assert torch.isfinite(pool.p.grad)
    assert torch.isfinite(places.grad).all()


def test_the_model_s_own_mean_and_deviation_are_used():
    assert made().backbone.mean == (0.5, 0.5, 0.5)
    assert made(model="resnet18").backbone.mean == timm.create_model("resnet18").pretrained_cfg["mean"]
    assert made(channels=1).backbone.mean == (0.5,)


def test_adapters_change_nothing_at_the_start_and_alone_are_trained():
    images = torch.rand(2, 3, 32, 32)
    plain, adapted = made(), made(lora_rank=4)
    torch.testing.assert_close(adapted.eval()(images), plain.eval()(images))
    trained = {name for name, weight in adapted.named_parameters() if weight.requires_grad}
    assert len(trained) == 6 * 2 * 2, "two matrices on qkv and on proj of six blocks"
    assert all(name.endswith((".down", ".up")) for name in trained)
    layer = LoRALinear(torch.nn.Linear(3, 5), 2, alpha=6.0)
    layer.up.data.normal_()
    inputs = torch.rand(4, 3)
    whole = layer.layer.weight + 6.0 / 2 * layer.up @ layer.down
    torch.testing.assert_close(layer(inputs), inputs @ whole.T + layer.layer.bias)
    with pytest.raises(ValueError, match="rank of 1"):
        add_lora(torch.nn.Linear(1, 1), 0, 1.0)
    with pytest.raises(Problem, match="no attention layers"):
        made(model="resnet18", lora_rank=4)


def test_frozen_blocks_keep_what_stands_before_them():
    model = made(frozen_blocks=5).backbone.model
    trained = {name.partition(".")[0] for name, weight in model.named_parameters() if weight.requires_grad}
    assert trained == {"blocks", "norm"}
    assert not any(weight.requires_grad for weight in model.blocks[4].parameters())
    assert all(weight.requires_grad for weight in model.blocks[5].parameters())


def test_frozen_patches_leave_positions_and_the_class_token_to_train():
    """As freeze(body, 0) in htdt/hyp_metric model.py."""
    model = made(frozen_patches=True).backbone.model
    frozen = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    assert frozen == {"patch_embed.proj.weight", "patch_embed.proj.bias"}
    with pytest.raises(Problem, match="no projection of patches"):
        made(model="resnet18", frozen_patches=True)


def test_each_block_learns_slower_than_the_one_after_it():
    model = made()
    optimiser = build_optimiser(TrainingParams(lr=1.0, backbone_lr=0.5, layer_decay=0.1), model, Loss())
    rate = {id(weight): group["lr"] for group in optimiser.param_groups for weight in group["params"]}
    names = {name: rate[id(weight)] for name, weight in model.backbone.model.named_parameters()}
    assert rate.keys() == {id(weight) for weight in model.parameters()}
    assert names["norm.weight"] == 0.5
    assert names["pos_embed"] == pytest.approx(0.5 * 0.1**7)
    for block in range(6):
        assert names[f"blocks.{block}.attn.qkv.weight"] == pytest.approx(0.5 * 0.1 ** (6 - block))
    with pytest.raises(Problem, match="no list of layers"):
        build_optimiser(TrainingParams(layer_decay=0.5), build_model("conv4", {}, BARE, 3), Loss())


def test_gradient_checkpointing_gives_the_same_gradient():
    found = []
    for on in (False, True):
        model = made(gradient_checkpointing=on)
        model(torch.ones(1, 3, 32, 32)).square().sum().backward()
        found.append(model.backbone.model.blocks[0].attn.qkv.weight.grad)
    torch.testing.assert_close(*found)


@pytest.mark.parametrize(
    "name", ["resnet18", "mobilenetv4_conv_small", pytest.param("densenet121", marks=pytest.mark.slow)]
)
def test_gradient_checkpointing_counts_a_batch_once(name):
    plain, recomputed = made(model=name), made(model=name, gradient_checkpointing=True)
    recomputed.load_state_dict(plain.state_dict())
    models = [plain.train(), recomputed.train(), copy.deepcopy(recomputed)]
    images = torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    for model in models:
        for _ in range(2):
            model(images).square().sum().backward()
    for model in models[1:]:
        torch.testing.assert_close(dict(model.state_dict()), dict(plain.state_dict()))


@pytest.mark.parametrize("ending", [".pth", ".safetensors"])
def test_weights_from_a_file_of_another_image_size(tmp_path, ending):
    source = timm.create_model(TINY, num_classes=7)
    state = source.state_dict()
    path = tmp_path / f"weights{ending}"
    save_file(state, path) if ending == ".safetensors" else torch.save(state, path)
    model = made(weights="file", weights_file=str(path)).eval()
    images = torch.rand(2, 3, 96, 96)
    with torch.no_grad():
        wanted = source.eval().forward_head(source.forward_features((images - 0.5) / 0.5), pre_logits=True)
        torch.testing.assert_close(model(images), wanted)
    assert model.backbone.weights_path == path


@pytest.mark.parametrize(
    ("params", "size", "said"),
    [
        ({"model": "vit_smal_patch16"}, 32, "timm has no model 'vit_smal_patch16'.*Similar names: vit_small_patch16"),
        ({"model": "ResNet-50"}, 32, "Similar names: resnet50,"),
        ({"model": "dinov2"}, 32, "Similar names: vit_.*dinov2"),
        ({"model": "dinov2-small"}, 32, "Similar names: vit_small_patch14_dinov2,"),
        ({"model": ""}, 32, "Similar names: vit_small_patch16_224,"),
        ({}, 40, "a multiple of that, such as 32"),
        ({"model": "gmixer_12_224"}, 64, "224 px only"),
        ({"model": "visformer_tiny"}, 96, r"Input height \(48\).*pretrained at 224 px"),
        ({"model": "coat_tiny", "pooling": "mean"}, 224, "features of several resolutions"),
        ({"model": "resnet18", "pooling": "token"}, 32, "no class token"),
        ({"model": "test_vit2", "pooling": "token"}, 32, "no class token"),  # only a register token
        ({"model": "crossvit_9_240", "gradient_checkpointing": True}, 240, "no gradient checkpointing"),
        ({"weights": "file"}, 32, "No weights file"),
        ({"weights": "cache"}, 32, "no weights in this machine's cache"),
        ({"model": "vit_small_patch16_dinov3.lvd1689m", "weights": "cache"}, 32, "86 MB, licence dinov3-lic"),
    ],
)
def test_what_cannot_be_is_a_sentence(params, size, said, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(Problem, match=said):
        made(**params)(torch.rand(1, 3, size, size))


@pytest.mark.parametrize("host", ["hub.example", "mirror.example"])
def test_a_download_is_asked_for_with_its_host_size_and_licence(tmp_path, monkeypatch, host):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"https://{host}")
    with pytest.raises(Problem, match=rf'Tick "Allow download" .* from {host} \(about 22 MB, licence apache-2.0\)'):
        made(model="vit_tiny_patch16_224", weights="cache")


def test_a_model_whose_patches_follow_a_stem_takes_its_own_size():
    with torch.no_grad():
        assert made(model="visformer_tiny").eval()(torch.rand(1, 3, 224, 224)).shape == (1, 384)


def test_a_misspelt_model_names_its_field_and_the_nearest_one():
    with pytest.raises(Problem) as raised:
        made(model="convnxt_ato")
    assert (raised.value.field, raised.value.fits) == ("backbone.model", "convnext_atto")


@pytest.mark.parametrize("ending", [".pth", ".safetensors"])
def test_a_file_that_holds_no_weights_is_a_sentence(tmp_path, ending):
    path = tmp_path / f"bad{ending}"
    path.write_bytes(b"\xff" * 64)
    with pytest.raises(Problem, match="not a weights file"):
        made(weights="file", weights_file=str(path))


def test_weights_that_hold_what_is_not_a_number_are_refused(tmp_path):
    state = timm.create_model(TINY, num_classes=0).state_dict()
    state["norm.weight"][3] = float("nan")
    save_file(state, tmp_path / "nan.safetensors")
    with pytest.raises(Problem, match=r"not finite numbers, in norm\.weight\."):
        made(weights="file", weights_file=str(tmp_path / "nan.safetensors"))


@pytest.mark.parametrize("shape", [(), (3,), (1, 1)])
def test_weights_that_timm_cannot_convert_are_refused_in_a_sentence(tmp_path, shape):
    state = {**timm.create_model(TINY, num_classes=0).state_dict(), "pos_embed": torch.zeros(shape)}
    save_file(state, tmp_path / "other.safetensors")
    with pytest.raises(Problem, match="are for another architecture"):
        made(weights="file", weights_file=str(tmp_path / "other.safetensors"))


def test_a_state_dict_beside_other_values_is_read(tmp_path):
    state = timm.create_model(TINY, num_classes=7).state_dict()
    for name in ("model", "state_dict"):
        torch.save({name: state, "epoch": 3}, tmp_path / f"{name}.pth")
        model = made(weights="file", weights_file=str(tmp_path / f"{name}.pth")).backbone.model
        torch.testing.assert_close(model.norm.weight, state["norm.weight"])


def trained_names(model):
    return {name for name, weight in model.named_parameters() if weight.requires_grad}


@pytest.mark.parametrize("depth", ["deep", "shallow"])
def test_prompts_are_trained_tokens_beside_the_patches(depth):
    plain, prompted = made().eval().backbone.model, made(prompts=3, prompt_depth=depth).eval().backbone.model
    blocks = prompted.blocks
    assert trained_names(prompted) == {f"blocks.{at}.prompts" for at in (range(6) if depth == "deep" else [0])}
    images = torch.rand(2, 3, 64, 64)
    entering = []
    plain.blocks[0].register_forward_pre_hook(lambda module, inputs: entering.append(inputs[0]))
    plain.forward_features(images)
    (tokens,) = entering
    for at, block in enumerate(plain.blocks):
        if depth == "deep" or at == 0:
            tokens = torch.cat([blocks[at].prompts.expand(2, -1, -1), tokens], 1)
        tokens = block(tokens)
        if depth == "deep" or at == 5:
            tokens = tokens[:, 3:]
    torch.testing.assert_close(prompted.forward_features(images), plain.norm(tokens))


@pytest.mark.parametrize("name", ["test_vit2", "eva02_tiny_patch14_224"])
def test_prompts_go_with_adapters_checkpointing_and_a_copy(name):
    made_of = {"model": name, "prompts": 2, "lora_rank": 2, "frozen_blocks": 1}
    model = made(**made_of, gradient_checkpointing=True)
    images = torch.rand(1, 3, 56 if "eva" in name else 32, 56 if "eva" in name else 32)
    model(images).square().sum().backward()
    names = trained_names(model)
    assert {name.rpartition(".")[2] for name in names} == {"prompts", "down", "up"}
    assert all(weight.grad is not None for name, weight in model.named_parameters() if name in names)
    again, copied = made(**made_of), copy.deepcopy(model)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.01 * torch.randn_like(weight))
        again.load_state_dict(model.state_dict())
        torch.testing.assert_close(again.eval()(images), model.eval()(images))
        assert not torch.equal(copied.eval()(images), model(images)), "a copy has prompts of its own"


@pytest.mark.parametrize("name", ["resnet18", "vit_relpos_small_patch16_224", "swin_tiny_patch4_window7_224"])
def test_prompts_need_a_sequence_of_any_length(name):
    with pytest.raises(Problem, match="no sequence of tokens"):
        made(model=name, prompts=2)
    with pytest.raises(ValueError, match="at least one prompt"):
        add_prompts(timm.create_model(TINY).blocks, 8, 0, deep=True)
