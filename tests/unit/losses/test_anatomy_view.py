"""The anatomy measured for any loss: its parts add up, its classifier is found, what is undefined is NaN."""

import math
from functools import cache

import pytest
import torch

from workbench.losses import anatomy_view as module
from workbench.losses import build_loss, list_losses
from workbench.losses.anatomy_view import anatomy
from workbench.losses.batch import bounded

N, D, K = 240, 6, 3


@pytest.fixture(scope="module")
def batch():
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(N) % K
    return torch.randn(N, D, generator=generator) + 2 * torch.eye(K, D)[labels], labels


@cache  # of the one batch: some losses train for seconds
def trained(name, batch):
    torch.manual_seed(0)
    loss = build_loss(name, num_classes=K, embedding_dim=D)
    if weights := list(loss.parameters()):
        optimiser = torch.optim.SGD(weights, lr=0.1)
        for _ in range(20):
            optimiser.zero_grad()
            value = loss(*batch)
            if value.requires_grad:
                value.backward()
            optimiser.step()
    return loss.eval()


@pytest.mark.parametrize("name", list_losses())
def test_every_loss_has_an_anatomy(name, batch):
    found = anatomy(trained(name, batch), *batch)
    assert {"anatomy/spce/tightness", "anatomy/ms/contrastive", "anatomy/entropy/within"} <= set(found)
    assert found["anatomy/entropy/labels"] == pytest.approx(math.log(K))
    assert found["anatomy/information/generative"] == pytest.approx(
        found["anatomy/entropy/embeddings"] - found["anatomy/entropy/within"]
    )


def test_ce_s_parts_add_up_to_its_value_and_pce_s_to_pce(batch):
    loss = trained("ce", batch)
    found = anatomy(loss, *batch)
    expected = torch.nn.functional.cross_entropy(loss.logits(batch[0]), batch[1]).item()
    assert found["anatomy/ce"] == pytest.approx(expected, rel=1e-5)
    assert found["anatomy/ce/tightness"] + found["anatomy/ce/contrastive"] == pytest.approx(expected, rel=1e-5)
    assert found["anatomy/pce/tightness"] + found["anatomy/pce/contrastive"] == pytest.approx(found["anatomy/pce"])
    assert found["anatomy/lambda"] > 0


def test_fewer_images_than_dimensions_leave_a_gap_not_a_number(batch):
    loss = trained("ce", batch)
    found = anatomy(loss, batch[0][: D - 1], batch[1][: D - 1])
    assert math.isnan(found["anatomy/pce"])
    assert found["anatomy/lambda"] < 1e-8


def test_pce_that_would_take_too_long_is_left_out(batch, monkeypatch):
    monkeypatch.setattr(module, "DEAREST", K * D**3 - 1)
    found = anatomy(trained("ce", batch), *batch)
    assert math.isnan(found["anatomy/lambda"])
    assert math.isfinite(found["anatomy/ce"])


RAW = {"ce", "center", "psce"}
UNIT = {"norm_ce", "proxy_nca", "psc", "proxy_anchor", "tsc", "arcface", "cosface", "adaface"}


def by_hand(z, theta, bias, labels):
    """CE, its parts, Center's and PCE's of Table 2 and Eq. 24, image by image and class by class, in float64."""
    n, classes = len(z), len(theta)
    logits = [[float(theta[k] @ z[i] + bias[k]) for k in range(classes)] for i in range(n)]
    lse = [math.log(math.fsum(math.exp(each) for each in row)) for row in logits]
    p = torch.tensor([[math.exp(one - all_) for one in row] for row, all_ in zip(logits, lse, strict=True)]).double()
    spreads = [sum((p[i, k] - p[i, k] ** 2) * torch.outer(z[i], z[i]) for i in range(n)) / n for k in range(classes)]
    lam = min(float(torch.linalg.eigvalsh(each).min()) for each in spreads)
    same = labels[:, None] == labels
    soft = torch.stack([sum(p[i, k] * z[i] for i in range(n)) / n for k in range(classes)])
    exponents = [[float(soft[k] @ z[i]) / lam for k in range(classes)] for i in range(n)]
    apart = [max(row) + math.log(math.fsum(math.exp(each - max(row)) for each in row)) for row in exponents]
    means = torch.stack([z[labels == k].mean(0) for k in range(classes)])
    return {
        "ce": math.fsum(lse[i] - logits[i][labels[i]] for i in range(n)) / n,
        "ce/tightness": -math.fsum(logits[i][labels[i]] for i in range(n)) / n,
        "ce/contrastive": math.fsum(lse) / n,
        "center/tightness": float((z - means[labels]).square().sum()) / 2,
        "center/contrastive": math.fsum(lse[i] - logits[i][labels[i]] for i in range(n)) / n,
        "lambda": lam,
        "pce/tightness": -float((z @ z.T)[same].sum()) / (2 * lam * n**2),
        "pce/contrastive": math.fsum(apart) / n - float(soft.square().sum()) / (2 * lam),
    }


def compared(name, loss, z):
    """Embeddings, class vectors and bias as each loss multiplies them, written out."""
    no_bias = torch.zeros(K, dtype=torch.float64)
    unit = torch.nn.functional.normalize
    match name:
        case "ce" | "center":
            return z, loss.classifier.weight.double(), loss.classifier.bias.double()
        case "psce":
            return unit(z) if loss.params.normalised else z, loss.prototypes.double(), no_bias
        case "norm_ce":
            return unit(z), unit(loss.proxies.double()) / 0.05, no_bias
        case "proxy_nca":
            return unit(z), 2 * unit(loss.proxies.double()) * 9, no_bias
        case "psc":
            return unit(z), unit(loss.prototypes.double()) / loss.temperature, no_bias
        case "proxy_anchor":
            return unit(z), 32 * unit(loss.anchors.proxies.double()), no_bias
        case "arcface" | "cosface":
            return unit(z), loss.params.scale * unit(loss.softmax.W.T.double()), no_bias
        case "adaface":
            return unit(z), loss.params.scale * unit(loss.proxies.double()), no_bias
        case "tsc":
            return unit(z), unit(loss.class_proxies()[0].double()) / loss.params.temperature, no_bias


@pytest.mark.parametrize("name", sorted(RAW | UNIT))
def test_what_hangs_on_a_classifier_is_measured_on_what_the_loss_compares(name, batch):
    loss = trained(name, batch)
    found = anatomy(loss, *batch)
    z, theta, bias = (each.detach() for each in compared(name, loss, batch[0].double()))
    for line, expected in by_hand(z, theta, bias, batch[1]).items():
        assert found[f"anatomy/{line}"] == pytest.approx(expected, rel=1e-6), line
    assert ("anatomy/seen/scale" in found) == (name in UNIT)
    if (logits := loss.logits(batch[0])) is not None:
        own = torch.nn.functional.cross_entropy(logits, batch[1]).item()
        assert found["anatomy/ce"] == pytest.approx(own, rel=1e-5)
        assert found["anatomy/information/discriminative"] == pytest.approx(math.log(K) - own, rel=1e-4)


def test_psce_of_unit_embeddings_says_so(batch):
    loss = build_loss("psce", num_classes=K, embedding_dim=D, normalised=True).eval()
    found = anatomy(loss, *batch)
    expected = by_hand(*compared("psce", loss, batch[0].double()), batch[1])
    assert found["anatomy/pce/contrastive"] == pytest.approx(expected["pce/contrastive"], rel=1e-6)
    assert found["anatomy/seen/scale"] == 1


@pytest.mark.parametrize("name", ["proxy_anchor", "proxy_nca", "soft_triple"])
def test_what_is_bounded_is_measured_as_it_is_compared(name, batch):
    params = {"centres": 1} if name == "soft_triple" else {}
    loss = build_loss(name, num_classes=K, embedding_dim=D, bounded=True, **params).eval()
    vectors = loss.class_proxies()[0]
    with torch.no_grad():
        vectors *= torch.linspace(0.2, 3, K)[:, None] / vectors.norm(dim=1, keepdim=True)
    embeddings = batch[0] * torch.linspace(0.01, 1, len(batch[0]))[:, None].to(batch[0].dtype)
    linear, inside = loss.linear_logits(), bounded(embeddings.double())
    torch.testing.assert_close(linear.embeddings(embeddings), inside)
    theta, bias = linear.classifier()
    logits = inside @ theta.T + (0 if bias is None else bias)
    proxies = bounded(loss.class_proxies()[0].detach().double())
    scale = {"proxy_anchor": 32, "proxy_nca": 18, "soft_triple": 20}[name]
    near = -torch.cdist(inside, proxies).square() / 2 if name == "proxy_nca" else inside @ proxies.T
    wanted = scale * near
    torch.testing.assert_close(logits.log_softmax(1), wanted.log_softmax(1))
    assert not linear.plain


def test_several_centres_of_a_class_have_ce_on_the_loss_s_own_logits_and_no_pce(batch):
    loss = trained("soft_triple", batch)
    found = anatomy(loss, *batch)
    own = torch.nn.functional.cross_entropy(loss.logits(batch[0]), batch[1]).item()
    assert found["anatomy/ce"] == pytest.approx(own, rel=1e-5)
    assert found["anatomy/ce/tightness"] + found["anatomy/ce/contrastive"] == pytest.approx(own, rel=1e-5)
    assert "anatomy/pce" not in found
    one = build_loss("soft_triple", num_classes=K, embedding_dim=D, centres=1)
    found = anatomy(one, *batch)
    own = torch.nn.functional.cross_entropy(one.logits(batch[0]), batch[1]).item()
    assert found["anatomy/ce"] == pytest.approx(own, rel=1e-5)
    assert found["anatomy/seen/scale"] == 20
    assert "anatomy/pce" in found


@pytest.mark.parametrize("name", list_losses())
def test_only_losses_that_compare_with_one_vector_for_each_class_say_how(name, batch):
    found = anatomy(trained(name, batch), *batch)
    assert ("anatomy/pce" in found) == (name in RAW | UNIT)
    assert ("anatomy/ce" in found) == (name in RAW | UNIT | {"soft_triple", "sub_center_arcface"})
    assert (trained(name, batch).linear_logits() is not None) == (name in RAW | UNIT)
