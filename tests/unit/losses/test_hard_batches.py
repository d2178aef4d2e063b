"""Losses against their equations in loops on batches that are not balanced: value and gradient in float64.

Class numbers with gaps, classes of one image, one class alone, no positives, copies, zero vectors, long and short ones.
"""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.unit.losses.small_batch import negatives, positives
from workbench.losses import build_loss

K, D = 11, 6
FEW = [0, 0, 0, 1, 1, 1, 2, 2, 5]
LABELS = {
    "gaps and single images": [0, 0, 0, 0, 0, 3, 3, 7, 9, 9, 10],
    "one class": [4] * 6,
    "no positives": [0, 2, 3, 5, 8, 10],
    "one pair": [3, 3],
    "one image": [2],
    "copies": [0, 0, 0, 1, 1, 1, 2, 2, 7, 7],
    "zero vectors": FEW,
    "long": FEW,
    "short": FEW,
}


def batch(which):
    y = torch.tensor(LABELS[which])
    z = torch.randn(len(y), D, generator=torch.Generator().manual_seed(11), dtype=torch.float64)
    if which == "copies":
        z[1], z[5], z[7] = z[0], z[0], z[6]  # within a class, and between classes
    if which == "zero vectors":
        z[0], z[4] = 0, 0
    return z * {"long": 1e4, "short": 1e-5}.get(which, 1.0), y


def on_the_sphere(z):
    return [row / row.norm() if row.any() else row / 1e-12 for row in z]


def apart(a, b):
    squared = (a - b).square().sum()
    return squared.sqrt() if squared > 1e-15 else squared * 0


def mean(terms, z):
    return sum(terms) / len(terms) if terms else z.sum() * 0


def summed(exponents):
    return torch.stack(exponents).logsumexp(0)


def ce(loss, z, y):
    weight, bias = loss.classifier.weight.detach(), loss.classifier.bias.detach()
    target = torch.full((len(y), K), 0.1 / (K - 1), dtype=z.dtype).scatter(1, y[:, None], 0.9)
    logs = [(weight @ row + bias).log_softmax(0) for row in z]
    return -sum(target[i] @ logs[i] for i in range(len(y))) / len(y)


def norm_ce(loss, z, y):
    u, proxies = on_the_sphere(z), F.normalize(loss.proxies.detach())
    return -sum((proxies @ u[i] / 0.05).log_softmax(0)[y[i]] for i in range(len(y))) / len(y)


def spce(loss, z, y):
    n, total = len(y), 0.0
    for i in range(n):
        products = [[z[i] @ z[j] for j in range(n) if y[j] == k] for k in range(K)]
        logits = [sum(of_class, z.sum() * 0) / n for of_class in products]
        total = total + summed(logits) - logits[y[i]]
    return total / n


def contrastive(loss, z, y):
    u, n = on_the_sphere(z), len(y)
    pulls = [apart(u[i], u[j]) ** 2 for i in range(n) for j in positives(y, i)]
    pushes = [(1 - apart(u[i], u[j])).relu() ** 2 for i in range(n) for j in negatives(y, i)]
    return sum(pulls + pushes, z.sum() * 0) / n


def snca(loss, z, y):
    u, terms = on_the_sphere(z), []
    for a in range(len(y)):
        if positives(y, a):
            every = summed([u[a] @ u[i] / 0.1 for i in range(len(y)) if i != a])
            terms.append(every - summed([u[a] @ u[i] / 0.1 for i in positives(y, a)]))
    return mean(terms, z)


def ice(loss, z, y):
    u, s, n = on_the_sphere(z), loss.params.scale, len(y)
    fixed, terms, pull = [row.detach() for row in u], [], torch.zeros_like(z)
    for a in range(n):
        pos, neg = positives(y, a), negatives(y, a)
        if not pos or not neg:
            continue
        among = summed([s * fixed[a] @ fixed[j] for j in neg])
        whole = {i: torch.logaddexp(s * fixed[a] @ fixed[i], among) for i in pos}
        terms += [whole[i] - s * fixed[a] @ fixed[i] for i in pos]
        missed = summed([among - whole[i] for i in pos])
        for i in pos:
            pull[i] -= fixed[a] * (among - whole[i] - missed).exp() / (2 * n)
        for j in neg:
            hits = summed([s * fixed[a] @ fixed[j] - whole[i] for i in pos])
            pull[j] += fixed[a] * (hits - missed).exp() / (2 * n)
    slope = sum(u[i] @ pull[i] for i in range(n))
    return mean(terms, z) + slope - slope.detach()


def psce(loss, z, y):
    u = on_the_sphere(z) if loss.params.normalised else list(z)
    total = 0.0
    for i in range(len(y)):
        logits = loss.prototypes @ u[i]
        total = total - logits[y[i]]
        total = total + summed([logits[k] for k in range(K) if not (loss.params.without_own_class and k == y[i])])
    return total / len(y)


def psc(loss, z, y):
    u, prototypes, total = on_the_sphere(z), F.normalize(loss.prototypes.detach()), 0.0
    for i in range(len(y)):
        logits = prototypes @ u[i] / 0.1
        total = total + summed([logits[k] for k in range(K) if k != y[i]]) - logits[y[i]]
    return total / len(y)


def supcon(loss, z, y):
    u, terms = on_the_sphere(z), []
    for a in range(len(y)):
        if positives(y, a):
            every = summed([u[a] @ u[i] / 0.1 for i in range(len(y)) if i != a])
            terms.append(mean([every - u[a] @ u[p] / 0.1 for p in positives(y, a)], z))
    return mean(terms, z)


def rankmi(loss, z, y):
    """In six dimensions distances weigh 1 / q(D), q = D^4 (1 - D^2 / 4)^1.5, cut at 0.5 and 1.4."""
    u, together, among, shares = on_the_sphere(z), [], [], []
    for a in range(len(y)):
        pos = [apart(u[a], u[p]) for p in positives(y, a)]
        near = [d for d in (apart(u[a], u[n]) for n in negatives(y, a)) if d < 1.4]
        weights = [1 / (d**4 * (1 - d * d / 4) ** 1.5) for d in (min(max(d.item(), 0.5), 1.4) for d in near)]
        together += pos
        if pos:
            among, shares = among + near, shares + [len(pos) * weight / sum(weights) for weight in weights]
    value = z.sum() * 0
    if together:
        value = value - F.logsigmoid(loss.statistics(torch.stack(together))).mean()
    if among:
        drawn = torch.tensor(shares, dtype=z.dtype) / math.fsum(shares)
        value = value - drawn @ F.logsigmoid(-loss.statistics(torch.stack(among)))
    return value


def ranks(loss, u, y, a):
    """Of every positive: its rank among all others and among the positives of the anchor."""
    pairs, none = [], u[a].sum() * 0
    for p in positives(y, a):
        above = {i: ((u[a] @ u[i] - u[a] @ u[p]) / loss.params.temperature).sigmoid() for i in range(len(y))}
        own = 1 + sum((above[i] for i in positives(y, a) if i != p), none)
        pairs.append((own + sum((above[i] for i in negatives(y, a)), none), own))
    return pairs


def smooth_ap(loss, z, y):
    u = on_the_sphere(z)
    each = [ranks(loss, u, y, a) for a in range(len(y)) if positives(y, a)]
    return mean([1 - mean([own / every for every, own in of_anchor], z) for of_anchor in each], z)


def recall_at_k(loss, z, y):
    u = on_the_sphere(z)
    anchors = [ranks(loss, u, y, a) for a in range(len(y)) if positives(y, a)]
    within = [[torch.sigmoid(k - every) for every, _ in found for k in (1, 2, 4, 8, 16)] for found in anchors]
    return mean([1 - mean(of_anchor, z) for of_anchor in within], z)


def angular(loss, z, y):
    u, t = on_the_sphere(z), math.tan(math.radians(loss.params.angle)) ** 2
    terms = []
    for a in range(len(y)):
        for p in positives(y, a):
            pulls = [4 * t * (u[a] + u[p]) @ u[n] - 2 * (1 + t) * u[a] @ u[p] for n in negatives(y, a)]
            terms.append(F.softplus(summed(pulls)) if pulls else z.sum() * 0)
    return mean(terms, z)


CASES = {
    "ce": (ce, {"dropout": 0.0}),
    "norm_ce": (norm_ce, {}),
    "spce": (spce, {}),
    "contrastive": (contrastive, {"reduction": "paper"}),
    "snca": (snca, {}),
    "ice": (ice, {}),
    "ice, flat": (ice, {"scale": 1.0}),
    "ice, sharp": (ice, {"scale": 1000.0}),
    "psce": (psce, {"prototypes": "random"}),
    "psce, unit length": (psce, {"prototypes": "random", "normalised": True}),
    "psce, without own class": (psce, {"prototypes": "random", "without_own_class": True}),
    "psc": (psc, {}),
    "supcon": (supcon, {}),
    "rankmi": (rankmi, {}),
    "smooth_ap": (smooth_ap, {"temperature": 0.1}),
    "recall_at_k": (recall_at_k, {"temperature": 0.1}),
    "angular": (angular, {}),
    "angular, steep": (angular, {"angle": 80.0}),
}


@pytest.mark.parametrize("which", LABELS)
@pytest.mark.parametrize("case", CASES)
def test_a_loss_is_its_equation_on_a_hard_batch(case, which):
    reference, params = CASES[case]
    torch.manual_seed(0)
    loss = build_loss(case.split(",")[0], num_classes=K, embedding_dim=D, **params).double().eval()
    for weight in loss.parameters():
        if not weight.any():
            nn.init.normal_(weight, std=0.3)
    z, y = batch(which)
    here, there = z.clone().requires_grad_(), z.clone().requires_grad_()
    value, expected = loss(here, y), reference(loss, there, y)
    (slope,), (wanted) = torch.autograd.grad(value, here), torch.autograd.grad(expected, there)[0]
    torch.testing.assert_close(value, expected, rtol=1e-9, atol=1e-10)
    assert (slope - wanted).norm() <= 1e-8 * wanted.norm() + 1e-12
