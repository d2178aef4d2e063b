"""Every loss of the first issue against its equation written out in loops, in float64; value and gradient."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.unit.losses.agreement import agree
from tests.unit.losses.small_batch import D, K, drawn, loss_of
from workbench.losses import build_loss, list_losses
from workbench.losses.anatomy import mutual_information, pce, spce, tightness_contrastive
from workbench.losses.prototypes import canonical, repelling, simplex, uniform
from workbench.problem import Problem

N = 14


@pytest.fixture
def batch():
    return drawn(N)


def test_ce_has_the_paper_s_smoothing_and_starts_at_log_k(batch):
    _, y = batch
    loss = loss_of("ce", dropout=0.0, label_smoothing=0.1)
    assert loss(batch[0].float(), y).item() == pytest.approx(math.log(K)), "weights and bias start at 0"
    nn.init.normal_(loss.classifier.weight, generator=torch.Generator().manual_seed(1))
    nn.init.normal_(loss.classifier.bias, generator=torch.Generator().manual_seed(2))
    weight, bias = loss.classifier.weight.detach().double(), loss.classifier.bias.detach().double()

    def reference(z, y):
        total = 0.0
        for i in range(N):
            logs = (weight @ z[i] + bias).log_softmax(0)
            total = total - sum((0.9 if k == y[i] else 0.1 / (K - 1)) * logs[k] for k in range(K))
        return total / N

    agree(loss, reference, batch)


def test_ce_drops_out_in_training_only(batch):
    z, y = batch[0].float(), batch[1]
    loss = loss_of("ce", dropout=0.5)
    nn.init.normal_(loss.classifier.weight)
    loss.eval()
    assert loss(z, y).item() == loss(z, y).item()
    loss.train()
    assert loss(z, y).item() != loss(z, y).item()
    torch.testing.assert_close(loss.logits(z), z @ loss.classifier.weight.T + loss.classifier.bias)


def test_norm_ce_is_eq_12(batch):
    loss = loss_of("norm_ce", temperature=0.1)
    proxies = loss.proxies.detach().double()

    def reference(z, y):
        total = 0.0
        for i in range(N):
            cosines = torch.stack([z[i] @ p / (z[i].norm() * p.norm()) for p in proxies])
            total = total - (cosines / 0.1).log_softmax(0)[batch[1][i]]
        return total / N

    agree(loss, reference, batch)


def naive_spce(z, y):
    centres = torch.stack([sum(z[j] for j in range(N) if y[j] == k) / N for k in range(K)])
    return sum(torch.logsumexp(centres @ z[i], 0) - centres[y[i]] @ z[i] for i in range(N)) / N


def test_spce_is_the_paper_s_double_sum(batch):
    agree(loss_of("spce"), naive_spce, batch)
    z, y = batch
    tight = -sum(z[i] @ z[j] for i in range(N) for j in range(N) if y[i] == y[j]) / N**2
    spread = (
        sum(
            torch.logsumexp(torch.stack([sum(z[i] @ z[j] for j in range(N) if y[j] == k) / N for k in range(K)]), 0)
            for i in range(N)
        )
        / N
    )
    parts = tightness_contrastive("spce", z, y)
    assert parts.tightness == pytest.approx(tight.item())
    assert parts.contrastive == pytest.approx(spread.item())
    assert parts.value == pytest.approx(spce(z, y, K).item())


@pytest.mark.parametrize("reduction", ["paper", "active"])
def test_contrastive_is_table_2(batch, reduction):
    def reference(z, y):
        unit = z / z.norm(dim=1, keepdim=True)
        pulls, pushes = [], []
        for i in range(N):
            for j in range(N):
                apart = (unit[i] - unit[j]).norm() if i != j else None
                if i != j and y[i] == y[j]:
                    pulls.append(apart**2)
                elif y[i] != y[j] and apart < 1:
                    pushes.append((1 - apart) ** 2)
        if reduction == "paper":
            return (sum(pulls) + sum(pushes)) / N
        return sum(pulls) / len(pulls) + sum(pushes) / len(pushes)

    agree(loss_of("contrastive", margin=1.0, reduction=reduction), reference, batch)


def test_contrastive_with_positive_margin_is_the_library_s_definition(batch):
    def reference(z, y):
        unit = z / z.norm(dim=1, keepdim=True)
        pulls, pushes = [], []
        for i in range(N):
            for j in range(N):
                if i == j:
                    continue
                apart = (unit[i] - unit[j]).norm()
                if y[i] == y[j] and apart > 0.3:
                    pulls.append(apart - 0.3)
                if y[i] != y[j] and apart < 0.8:
                    pushes.append(0.8 - apart)
        return sum(pulls) / len(pulls) + sum(pushes) / len(pushes)

    agree(loss_of("contrastive_positive_margin", positive_margin=0.3, negative_margin=0.8), reference, batch)


def test_multi_similarity_is_eq_15_on_the_mined_pairs(batch):
    def reference(z, y):
        unit = z / z.norm(dim=1, keepdim=True)
        total = 0.0
        for i in range(N):
            positives = [unit[i] @ unit[j] for j in range(N) if j != i and y[j] == y[i]]
            negatives = [unit[i] @ unit[j] for j in range(N) if y[j] != y[i]]
            hard_n = [s for s in negatives if s + 0.1 > min(positives)]
            hard_p = [s for s in positives if s - 0.1 < max(negatives)]
            if hard_p:
                total = total + torch.log1p(sum(torch.exp(-2 * (s - 0.5)) for s in hard_p)) / 2
            if hard_n:
                total = total + torch.log1p(sum(torch.exp(50 * (s - 0.5)) for s in hard_n)) / 50
        return total / N

    agree(loss_of("multi_similarity"), reference, batch)


def test_proxy_anchor_is_eq_4(batch):
    loss = loss_of("proxy_anchor", margin=0.1, alpha=32.0)
    proxies = loss.class_proxies()[0].detach().double()

    def reference(z, y):
        unit, anchors = z / z.norm(dim=1, keepdim=True), proxies / proxies.norm(dim=1, keepdim=True)
        pull = push = 0.0
        for k in range(K):
            cosines = unit @ anchors[k]
            pull = pull + torch.log1p(sum(torch.exp(-32 * (cosines[i] - 0.1)) for i in range(N) if y[i] == k))
            push = push + torch.log1p(sum(torch.exp(32 * (cosines[i] + 0.1)) for i in range(N) if y[i] != k))
        return pull / K + push / K

    agree(loss, reference, batch)
    assert loss.proxy_lr_multiplier == 100


@pytest.mark.parametrize("name", ["ce", "norm_ce", "spce", "contrastive"])
def test_gradients_of_smooth_losses(name, batch):
    loss = loss_of(name).double().eval()
    z = batch[0].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: loss(x, batch[1]), (z,))


def test_pce_is_eq_10_with_the_lambda_of_eq_24():
    generator = torch.Generator().manual_seed(4)
    n, d = 60, 4
    z, y = torch.randn(n, d, generator=generator, dtype=torch.float64), torch.arange(n) % K
    theta = 0.3 * torch.randn(K, d, generator=generator, dtype=torch.float64)
    found = pce(z, y, theta)
    p = (z @ theta.T).softmax(1)
    lam = min(
        torch.linalg.eigvalsh(sum((p[i, k] - p[i, k] ** 2) * torch.outer(z[i], z[i]) for i in range(n)) / n)[0].item()
        for k in range(K)
    )
    tight = -sum(z[i] @ z[j] for i in range(n) for j in range(n) if y[i] == y[j]) / (2 * lam * n**2)
    soft = torch.stack([sum(p[i, k] * z[i] for i in range(n)) / n for k in range(K)])
    spread = sum(torch.logsumexp(soft @ z[i] / lam, 0) for i in range(n)) / n - soft.square().sum() / (2 * lam)
    assert found.lam == pytest.approx(lam)
    assert found.tightness == pytest.approx(tight.item())
    assert found.contrastive == pytest.approx(spread.item())
    assert found.value == pytest.approx((tight + spread).item())


def test_pce_without_lambda_is_a_gap_with_its_reason():
    z, y = torch.randn(4, 9, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2, 0])
    found = pce(z, y, torch.zeros(K, 9))
    assert math.isnan(found.value)
    assert "lambda" in found.reason


def test_parts_of_ce_add_up_to_ce(batch):
    z, y = batch
    theta = torch.randn(K, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    parts = tightness_contrastive("ce", z, y, weight=theta)
    assert parts.value == pytest.approx(F.cross_entropy(z @ theta.T, y).item())
    with pytest.raises(ValueError, match="classifier"):
        tightness_contrastive("ce", z, y)
    with pytest.raises(ValueError, match="no parts"):
        tightness_contrastive("nothing", z, y)


@pytest.mark.parametrize("method", ["contrastive", "snca", "ms", "center"])
def test_parts_are_table_2(method, batch):
    z, y = batch
    theta = torch.randn(K, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    unit = F.normalize(z)
    cos = unit @ unit.T
    tight = spread = 0.0
    for i in range(N):
        own = [j for j in range(N) if j != i and y[j] == y[i]]
        other = [j for j in range(N) if y[j] != y[i]]
        match method:
            case "contrastive":
                tight += sum((unit[i] - unit[j]).square().sum().item() for j in own) / N
                spread += sum(max(0.0, 1 - (unit[i] - unit[j]).norm().item()) ** 2 for j in other) / N
            case "snca":
                tight += -math.log(sum(math.exp(cos[i, j] / 0.1) for j in own)) / N
                spread += math.log(sum(math.exp(cos[i, j] / 0.1) for j in range(N) if j != i)) / N
            case "ms":
                tight += math.log1p(sum(math.exp(-2 * (cos[i, j] - 0.5)) for j in own)) / 2 / N
                spread += math.log1p(sum(math.exp(50 * (cos[i, j] - 0.5)) for j in other)) / 50 / N
            case "center":
                centre = z[y == y[i]].mean(0)
                tight += 0.5 * (z[i] - centre).square().sum().item()
                spread += -(z[i] @ theta.T).log_softmax(0)[y[i]].item() / N
    parts = tightness_contrastive(method, z, y, weight=theta)
    assert parts.tightness == pytest.approx(tight)
    assert parts.contrastive == pytest.approx(spread)


def test_mutual_information_counts_pairs_once(batch):
    z, y = batch
    found = mutual_information(z, y, logits=torch.zeros(N, K, dtype=torch.float64))
    pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
    entropy = D / (N * (N - 1)) * sum(math.log((z[i] - z[j]).square().sum()) for i, j in pairs)
    assert found.entropy_embeddings == pytest.approx(entropy)
    shares = [(y == k).sum().item() / N for k in range(K)]
    assert found.entropy_labels == pytest.approx(-sum(s * math.log(s) for s in shares))
    assert found.discriminative == pytest.approx(found.entropy_labels - math.log(K))
    assert found.generative == pytest.approx(found.entropy_embeddings - found.entropy_within)


def test_the_entropy_within_classes_is_weighed_by_their_images(batch):
    """Boudiaf et al. 2020, Eq. 6 for each class; a class with one image has no pair, and so no entropy."""
    z, y = torch.cat([batch[0], batch[0].new_full((1, D), 9.0)]), torch.cat([batch[1], batch[1].new_tensor([K])])
    entropies, images = [], []
    for k in range(K):
        rows = z[y == k]
        logs = [math.log((a - b).square().sum()) for a, b in itertools.permutations(rows, 2)]
        entropies.append(D * sum(logs) / len(logs))
        images.append(len(rows))
    assert len(set(images)) > 1
    within = sum(entropy * count for entropy, count in zip(entropies, images, strict=True)) / sum(images)
    assert mutual_information(z, y).entropy_within == pytest.approx(within)


def test_equal_embeddings_are_no_pair_of_the_entropy(batch):
    z, y = batch
    whole = mutual_information(torch.cat([z, z[:1]]), torch.cat([y, y[:1]]))
    squares = torch.cdist(torch.cat([z, z[:1]]), torch.cat([z, z[:1]])).square()
    assert whole.entropy_embeddings == pytest.approx(D * squares[squares > 1e-12].log().mean().item())
    assert math.isfinite(whole.generative)
    nothing = mutual_information(torch.ones(4, D), torch.tensor([0, 0, 1, 1]))
    assert math.isnan(nothing.entropy_embeddings)
    assert math.isnan(nothing.generative)


def test_prototypes():
    points = simplex(6, 9).double()
    apart = torch.pdist(points)
    assert (apart - (2 * 6 / 5) ** 0.5).abs().max() < 1e-6
    assert (points.norm(dim=1) - 1).abs().max() < 1e-6
    torch.testing.assert_close(simplex(4, 4), (4 / 3) ** 0.5 * (torch.eye(4) - 0.25))
    assert torch.equal(canonical(3), torch.eye(3))
    few = repelling(8, 3, seed=1)
    others = [repelling(8, 3, seed=seed) for seed in (2, 3)]  # after which the first ones are made again
    assert torch.equal(few, repelling(8, 3, seed=1))
    assert not any(torch.equal(few, other) for other in others)
    random = F.normalize(torch.randn(8, 3, generator=torch.Generator().manual_seed(1)))
    assert torch.pdist(few).min() > torch.pdist(random).min() + 0.3
    with pytest.raises(ValueError, match="5 dimensions"):
        simplex(6, 4)


def test_repelling_prototypes_that_are_kept_have_numbers_and_are_the_callers_own():
    with torch.device("meta"):
        first = repelling(7, 3, seed=4)
    kept = first.clone()
    first.zero_()
    assert torch.equal(repelling(7, 3, seed=4), kept)
    assert kept.norm(dim=1).tolist() == pytest.approx([1] * 7)


@pytest.mark.parametrize("make", [simplex, repelling, uniform])
def test_numbers_of_prototypes_are_whole_ones(make):
    assert torch.equal(make(np.int64(3), 4), make(3, 4))
    with pytest.raises(ValueError, match="num_classes must be a whole number: got '10'"):
        make("10", 64)
    with pytest.raises(ValueError, match=r"dim must be a whole number: got 64\.0"):
        make(10, 64.0)
    with pytest.raises(ValueError, match="num_classes must be a whole number: got None"):
        canonical(None)


def test_the_door_names_what_is_wrong():
    assert {"ce", "norm_ce", "spce", "contrastive", "multi_similarity", "proxy_anchor"} <= set(list_losses())
    with pytest.raises(Problem, match="no loss named 'cce'"):
        build_loss("cce", num_classes=2, embedding_dim=2)
    with pytest.raises(Problem, match="margin"):
        build_loss("contrastive", num_classes=2, embedding_dim=2, margin=9)
    with pytest.raises(Problem, match="at least one class"):
        build_loss("ce", num_classes=0, embedding_dim=2)
    assert build_loss("ce", num_classes=1, embedding_dim=1)(torch.ones(2, 1), torch.zeros(2, dtype=torch.int64)) == 0
