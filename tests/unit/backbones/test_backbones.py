"""Shapes, frozen batch-norm, and weights that cannot be used."""

from urllib.parse import urlsplit

import pytest
import torch
from torchvision.models import ResNet50_Weights

from workbench.backbones import list_backbones, pretrained
from workbench.backbones.model import build_model
from workbench.backbones.pretrained import load_into
from workbench.config import EmbeddingParams
from workbench.problem import Problem


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("side", [8, 16, 28, 105])
def test_conv4_takes_small_images_of_any_size(channels, side):
    model = build_model("conv4", {}, EmbeddingParams(dim=10), channels).eval()
    assert model(torch.rand(2, channels, side, side)).shape == (2, 10)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", [name for name in list_backbones() if name not in ("conv4", "clip")])
def test_every_backbone_gives_its_features_and_trains(name, channels):
    model = build_model(name, {}, EmbeddingParams(dim=0, batch_norm=False), channels)
    embeddings = model(torch.rand(2, channels, 64, 64))
    assert embeddings.shape == (2, model.backbone.feature_dim)
    embeddings.sum().backward()
    assert any(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())
    model.eval()
    images = torch.rand(2, channels, 64, 64)
    assert torch.equal(model(images), model(images))


def test_the_head_normalises_and_has_no_affine():
    model = build_model("conv4", {}, EmbeddingParams(dim=6, normalise=True), 1).train()
    assert [name for name, _ in model.head.named_parameters()] == ["linear.weight", "linear.bias"]
    lengths = model(torch.rand(8, 1, 16, 16)).norm(dim=1)
    torch.testing.assert_close(lengths, torch.ones(8))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("resnet18", (128, 256, 512)), ("squeezenet1_0", (256, 512, 512)), ("mobilenet_v2", (32, 96, 1280))],
)
def test_three_levels_stand_side_by_side_and_the_last_is_the_usual_feature(name, sizes):
    torch.manual_seed(0)
    plain = build_model(name, {}, EmbeddingParams(dim=0, batch_norm=False), 3).eval()
    torch.manual_seed(0)
    levels = build_model(name, {"levels": "low_mid_high"}, EmbeddingParams(dim=0, batch_norm=False), 3).eval()
    images = torch.rand(2, 3, 64, 64)
    found = levels(images)
    assert found.shape == (2, sum(sizes))
    torch.testing.assert_close(found[:, -sizes[-1] :], plain(images))


@pytest.mark.parametrize("dim", [4, 256, 300])
def test_a_layer_that_starts_as_the_identity_keeps_the_features(dim):
    params = EmbeddingParams(dim=dim, start="identity", batch_norm=False)
    model = build_model("conv4", {"positions": 2}, params, 1).eval()
    images = torch.rand(3, 1, 16, 16)
    features = model.backbone((images - model.mean) / model.std)
    kept = min(dim, features.shape[1])
    torch.testing.assert_close(model(images)[:, :kept], features[:, :kept])


@pytest.mark.parametrize("dim", [4, 24])
def test_a_layer_can_start_with_rows_at_right_angles(dim):
    params = EmbeddingParams(dim=dim, start="orthogonal", batch_norm=False)
    linear = build_model("conv4", {"positions": 2}, params, 1).head.linear
    assert linear.weight.shape[1] >= dim
    torch.testing.assert_close(linear.weight @ linear.weight.T, torch.eye(dim))
    assert not linear.bias.any()


def test_a_layer_can_start_as_glorot_and_bengio_draw_it():
    params = EmbeddingParams(dim=256, start="glorot", batch_norm=False)
    linear = build_model("conv4", {"positions": 2}, params, 1).head.linear
    largest = (6 / sum(linear.weight.shape)) ** 0.5
    assert 0.98 * largest < linear.weight.abs().max() <= largest
    torch.testing.assert_close(linear.weight.var(), torch.tensor(largest**2 / 3), rtol=0.05, atol=0)
    assert not linear.bias.any()


@pytest.mark.parametrize("start", ["random", "identity", "orthogonal", "glorot"])
def test_a_layer_can_be_without_a_bias(start):
    params = EmbeddingParams(dim=8, start=start, bias=False, batch_norm=False)
    model = build_model("conv4", {"positions": 2}, params, 1)
    assert [name for name, _ in model.head.named_parameters()] == ["linear.weight"]
    features = torch.rand(3, model.head.linear.in_features)
    torch.testing.assert_close(model.head(2 * features), 2 * model.head(features))


def test_of_two_layers_the_last_can_be_without_a_bias():
    params = EmbeddingParams(dim=8, layers="two", bias=False, batch_norm=False)
    names = [name for name, _ in build_model("conv4", {"positions": 2}, params, 1).head.named_parameters()]
    assert names == ["linear.0.weight", "linear.0.bias", "linear.2.weight"]


def test_a_bounded_embedding_is_never_longer_than_1_and_keeps_shorter_ones():
    torch.manual_seed(0)
    free, bounded = (
        build_model("conv4", {}, EmbeddingParams(dim=2, batch_norm=False, bounded=on), 1).eval() for on in (False, True)
    )
    bounded.load_state_dict(free.state_dict())
    images = torch.rand(32, 1, 16, 16) * torch.linspace(0, 300, 32)[:, None, None, None]
    before, after = free(images), bounded(images)
    lengths = before.norm(dim=1, keepdim=True)
    assert 0 < (lengths > 1).sum() < 32
    torch.testing.assert_close(after, torch.where(lengths > 1, before / lengths, before))


def test_frozen_batch_norm_stays_frozen_in_training():
    model = build_model("resnet18", {"frozen_batch_norm": True}, EmbeddingParams(dim=0, batch_norm=False), 3).train()
    before = {name: value.clone() for name, value in model.state_dict().items() if "running" in name}
    model(torch.rand(4, 3, 64, 64)).sum().backward()
    after = model.state_dict()
    assert before
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_published_weights_give_other_features_than_none(real_data):
    weights = {"weights": "file", "weights_file": str(real_data / "weights" / "squeezenet1_0.pth")}
    model = build_model("squeezenet1_0", weights, EmbeddingParams(dim=0, batch_norm=False), 3).eval()
    images = torch.rand(2, 3, 96, 96, generator=torch.Generator().manual_seed(0))
    assert model(images).shape == (2, 512)
    state = torch.load(real_data / "weights" / "squeezenet1_0.pth", weights_only=True)
    torch.testing.assert_close(model.backbone.state_dict()["layers.1.0.weight"], state["features.0.weight"])


def test_folded_mobilenet_weights_load(real_data):
    weights = {"weights": "file", "weights_file": str(real_data / "weights" / "mobilenet_v2.pth")}
    model = build_model("mobilenet_v2", weights, EmbeddingParams(dim=0, batch_norm=False), 3).eval()
    assert torch.isfinite(model(torch.rand(1, 3, 64, 64))).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "no weights file"),
        (lambda path: path.write_bytes(b"not weights"), "not a weights file"),
        (lambda path: path.write_bytes(b""), "not a weights file"),
        (lambda path: torch.save([1, 2], path), "no named tensors"),
        (lambda path: torch.save({"features.0.weight": torch.zeros(1)}, path), "another architecture"),
        (lambda path: cut(path), "not a weights file"),
        (
            lambda path: torch.save({"a": torch.zeros(1, dtype=torch.complex64)}, path),
            r"a has values of an unsupported kind .*x64",
        ),
        (lambda path: torch.save({"a": torch.zeros(1).to_sparse()}, path), "not a weights file"),
        (lambda path: torch.save({"a": torch.zeros(1, device="meta")}, path), "a has values of an unsupported kind"),
    ],
    ids=["missing", "text", "empty", "list", "other architecture", "truncated", "complex", "sparse", "meta"],
)
def test_weights_that_cannot_be_used_are_named(tmp_path, make, says):
    path = tmp_path / "weights.pth"
    make(path)
    params = {"weights": "file", "weights_file": str(path)}
    with pytest.raises(Problem, match=says) as caught:
        build_model("squeezenet1_0", params, EmbeddingParams(), 3)
    assert "weights.pth" in str(caught.value)


def test_weights_that_are_not_finite_in_the_networks_own_type_are_refused(tmp_path):
    model = build_model("squeezenet1_0", {}, EmbeddingParams(), 3).backbone
    state = {name: value.double() for name, value in model.state_dict().items()}
    state[next(iter(state))][0] = 1e300
    with pytest.raises(Problem, match="not finite numbers"):
        load_into(model, state, "the file")


def test_names_in_weights_are_cut_and_shown_without_harm():
    model = build_model("squeezenet1_0", {}, EmbeddingParams(), 3).backbone
    with pytest.raises(Problem) as caught:
        load_into(model, model.state_dict() | {"\x1b[31m" + "a" * 3_000_000: torch.zeros(1)}, "the file")
    assert r"no place for \x1b[31maaa" in str(caught.value)
    assert len(str(caught.value)) < 2_000


def cut(path):
    torch.save({"features.0.weight": torch.zeros(1000)}, path)
    path.write_bytes(path.read_bytes()[:-300])


def test_no_file_named_and_nothing_in_the_cache(monkeypatch, tmp_path):
    with pytest.raises(Problem, match="No weights file"):
        build_model("resnet18", {"weights": "file"}, EmbeddingParams(), 3)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    with pytest.raises(Problem, match="Allow download"):
        build_model("resnet18", {"weights": "cache"}, EmbeddingParams(), 3)


@pytest.mark.parametrize("name", ["resnet18", "bn_inception", "timm"])
def test_a_weights_file_that_is_not_chosen_is_asked_for_at_its_field(name):
    with pytest.raises(Problem, match="No weights file is chosen") as problem:
        build_model(name, {"weights": "file"}, EmbeddingParams(), 3)
    assert problem.value.field == "backbone.weights_file"


def test_an_unknown_backbone_is_named():
    with pytest.raises(Problem, match="no backbone named 'vit'"):
        build_model("vit", {}, EmbeddingParams(), 3)


@pytest.mark.parametrize(
    ("name", "levels"),
    [("resnet18", "last")]
    + [(name, "low_mid_high") for name in ("resnet18", "squeezenet1_0", "mobilenet_v2", "bn_inception", "googlenet")],
)
def test_gradient_checkpointing_gives_the_same_gradient_and_statistics(name, levels):
    images = torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    states, gradients = [], []
    for on in (False, True):
        torch.manual_seed(0)
        params = {"gradient_checkpointing": on, "levels": levels}
        model = build_model(name, params, EmbeddingParams(dim=0, batch_norm=False), 3).train()
        torch.manual_seed(1)
        model(images).square().sum().backward()
        states.append(model.state_dict())
        gradients.append([weight.grad for weight in model.parameters()])
    assert states[0].keys() == states[1].keys(), "a checkpoint fits both"
    for values, others in (states[0].values(), states[1].values()), gradients:
        for value, other in zip(values, others, strict=True):
            torch.testing.assert_close(value, other)


def test_a_download_is_asked_for_with_its_host_and_its_size(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    host = urlsplit(ResNet50_Weights.IMAGENET1K_V1.url).hostname
    with pytest.raises(Problem, match=rf'Tick "Allow download" to fetch them from {host} \(about 103 MB\)'):
        build_model("resnet50", {"weights": "cache"}, EmbeddingParams(dim=0), 3)


def test_a_file_that_lists_more_tensors_than_any_network_has_is_refused_unread(tmp_path, monkeypatch):
    path = tmp_path / "many.safetensors"
    listed = pretrained.MOST_LISTED + 8
    path.write_bytes(listed.to_bytes(8, "little") + b"{}" + b" " * listed)
    monkeypatch.setattr("safetensors.torch.load_file", lambda path: pytest.fail("it was read"))
    with pytest.raises(Problem, match=r"its list of tensors has .*, more than that of any network.*another file"):
        pretrained.read_state(path)
