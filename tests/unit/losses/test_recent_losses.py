"""Margin softmaxes, ranking losses, Circle, TCM and the hyperbolic loss against their papers' equations, in float64."""

import math

import pytest
import torch
from torch.nn import functional as F

from tests.unit.losses.agreement import agree
from tests.unit.losses.small_batch import D, K, N, drawn, negatives, positives, unit
from tests.unit.losses.small_batch import evaluated as loss_of
from workbench.losses import build_loss
from workbench.losses.hyperbolic import ball_distances


@pytest.fixture
def batch():
    return drawn()


def softmaxed(z, y, proxies, scale, own_score):
    """Mean cross-entropy of s cos with the own cosine changed by `own_score(cosine, place)`."""
    u, w, total = unit(z), unit(proxies), 0.0
    for i in range(N):
        scores = [scale * (own_score(u[i] @ w[k], i) if k == y[i] else u[i] @ w[k]) for k in range(K)]
        total = total - torch.stack(scores).log_softmax(0)[y[i]]
    return total / N


@pytest.mark.parametrize("margin", [28.6, 60.0], ids=["the paper's", "past 180 degrees"])
def test_arcface_is_eq_3(batch, margin):
    loss = loss_of("arcface", scale=8.0, margin=margin)
    proxies, m = loss.class_proxies()[0].detach().double(), math.radians(margin)

    def own_score(cosine, place):
        angle = torch.acos(cosine)
        return torch.cos(angle + m) if angle <= math.pi - m else cosine - m * math.sin(m)

    agree(loss, lambda z, y: softmaxed(z, y, proxies, 8.0, own_score), batch)


def test_cosface_is_eq_4(batch):
    loss = loss_of("cosface", scale=8.0, margin=0.35)
    proxies = loss.class_proxies()[0].detach().double()
    agree(loss, lambda z, y: softmaxed(z, y, proxies, 8.0, lambda cosine, place: cosine - 0.35), batch)


def test_sub_center_arcface_takes_the_nearest_proxy_of_a_class(batch):
    loss = loss_of("sub_center_arcface", scale=8.0, margin=20.0, centres=2)
    vectors, classes = loss.class_proxies()
    proxies, m = vectors.detach().double(), math.radians(20.0)
    assert classes.tolist() == [0, 0, 1, 1, 2, 2]

    def reference(z, y):
        u, w, total = unit(z), unit(proxies), 0.0
        for i in range(N):
            nearest = [max(u[i] @ w[2 * k], u[i] @ w[2 * k + 1]) for k in range(K)]
            scores = [8 * (torch.cos(torch.acos(s) + m) if k == y[i] else s) for k, s in enumerate(nearest)]
            total = total - torch.stack(scores).log_softmax(0)[y[i]]
        return total / N

    agree(loss, reference, batch)


def test_adaface_has_a_margin_by_length(batch):
    loss = loss_of("adaface", scale=8.0, margin=0.4, concentration=0.333)
    loss.mean.fill_(2.0)
    loss.deviation.fill_(0.5)
    proxies = loss.class_proxies()[0].detach().double()

    def reference(z, y):
        quality = [max(-1.0, min(1.0, 0.333 * (each.norm().item() - 2.0) / (0.5 + 1e-3))) for each in z]

        def own_score(cosine, place):
            q = quality[place]
            return torch.cos(torch.acos(cosine) - 0.4 * q) - (0.4 * q + 0.4)

        return softmaxed(z, y, proxies, 8.0, own_score)

    agree(loss, reference, batch)


def test_adaface_s_running_lengths_follow_training_alone(batch):
    z, y = batch[0].float(), batch[1]
    loss = loss_of("adaface")
    loss(z, y)
    assert (loss.mean.item(), loss.deviation.item()) == (20, 100)
    loss.train()(z, y)
    lengths = z.norm(dim=1)
    assert loss.mean.item() == pytest.approx(0.99 * 20 + 0.01 * lengths.mean().item())
    assert loss.deviation.item() == pytest.approx(0.99 * 100 + 0.01 * lengths.std().item())
    before = loss.mean.item(), loss.deviation.item()
    assert loss(z[:1], y[:1]).isfinite()
    assert (loss.mean.item(), loss.deviation.item()) == before, "one length has no deviation"
    loss(z[:2], y[:2])
    assert loss.deviation.item() == pytest.approx(0.99 * before[1] + 0.01 * lengths[:2].std().item())


def test_adaface_counts_lengths_up_to_100(batch):
    loss = loss_of("adaface", scale=8.0)
    loss.mean.fill_(50.0)
    z, y = F.normalize(batch[0]).float(), batch[1]
    torch.testing.assert_close(loss(500 * z, y), loss(100 * z, y))
    assert not torch.isclose(loss(99 * z, y), loss(100 * z, y), rtol=1e-5)


def test_adaface_has_a_gradient_where_an_embedding_is_on_its_proxy_or_opposite():
    loss = loss_of("adaface", scale=8.0)
    proxies = loss.class_proxies()[0].detach()
    z = torch.cat([proxies, -proxies]).requires_grad_()
    loss(z, torch.arange(K).repeat(2)).backward()
    assert z.grad.isfinite().all()


def test_circle_weighs_each_pair_by_how_far_it_is(batch):
    def reference(z, y):
        u, total = unit(z), 0.0
        for a in range(N):
            pull = [u[a] @ u[p] for p in positives(y, a)]
            push = [u[a] @ u[n] for n in negatives(y, a)]
            near = torch.stack([-8 * max(0.0, 1.4 - s.item()) * (s - 0.6) for s in pull]).logsumexp(0)
            far = torch.stack([8 * max(0.0, s.item() + 0.4) * (s - 0.4) for s in push]).logsumexp(0)
            total = total + torch.log1p(torch.exp(near + far))
        return total / N

    agree(loss_of("circle", margin=0.4, scale=8.0), reference, batch)


def ranks_of(u, y, a, among, temperature):
    """The soft rank of every positive of an anchor in the list `among`."""
    return {
        p: 1 + sum(torch.sigmoid((u[a] @ u[k] - u[a] @ u[p]) / temperature) for k in among if k != p)
        for p in positives(y, a)
    }


def naive_smooth_ap(z, y, temperature):
    u, total = unit(z), 0.0
    for a in range(N):
        every = ranks_of(u, y, a, [k for k in range(N) if k != a], temperature)
        own = ranks_of(u, y, a, positives(y, a), temperature)
        total = total + sum(own[p] / every[p] for p in own) / len(own)
    return 1 - total / N


def test_smooth_ap_is_eq_8(batch):
    agree(loss_of("smooth_ap", temperature=0.1), lambda z, y: naive_smooth_ap(z, y, 0.1), batch)


def test_with_a_low_temperature_smooth_ap_is_one_minus_average_precision(batch):
    z, y = batch
    total = 0.0
    for a in range(N):
        order = sorted((i for i in range(N) if i != a), key=lambda i: -(unit(z)[a] @ unit(z)[i]))
        hits = [place + 1 for place, i in enumerate(order) if y[i] == y[a]]
        total += sum((rank + 1) / place for rank, place in enumerate(hits)) / len(hits)
    assert loss_of("smooth_ap", temperature=1e-5)(z, y).item() == pytest.approx(1 - total / N)


def test_recall_at_k_is_the_share_of_positives_below_k(batch):
    def reference(z, y):
        u, total = unit(z), 0.0
        for a in range(N):
            ranks = ranks_of(u, y, a, [k for k in range(N) if k != a], 0.1)
            for at in (1, 2, 4, 8, 16):
                total = total + sum(torch.sigmoid((at - rank) / 2.0) for rank in ranks.values()) / len(ranks) / 5
        return 1 - total / N

    agree(loss_of("recall_at_k", temperature=0.1, rank_temperature=2.0), reference, batch)


def test_threshold_consistent_margins_are_added_to_smooth_ap(batch):
    def reference(z, y):
        u = unit(z)
        near = [0.9 - u[a] @ u[p] for a in range(N) for p in positives(y, a) if u[a] @ u[p] <= 0.9]
        far = [u[a] @ u[n] - 0.5 for a in range(N) for n in negatives(y, a) if u[a] @ u[n] >= 0.5]
        return naive_smooth_ap(z, y, 0.1) + 2 * (sum(near) / len(near) + sum(far) / len(far))

    agree(loss_of("threshold_consistent", temperature=0.1, weight=2.0), reference, batch)


def added(x, y, c):
    """Möbius addition in the ball of curvature -c."""
    xy, xx, yy = x @ y, x @ x, y @ y
    return ((1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y) / (1 + 2 * c * xy + c**2 * xx * yy)


def test_the_hyperbolic_loss_is_by_the_distance_of_moebius_addition(batch):
    c, tau, r = 0.1, 0.2, 2.3

    def reference(z, y):
        points = []
        for each in z:
            cut = each * min(1.0, r / each.norm().item()) if each.norm() <= r else each / each.norm() * r
            length = c**0.5 * cut.norm()
            points.append(torch.tanh(length) * cut / length)
        apart = {
            (i, j): 2 / c**0.5 * torch.atanh(c**0.5 * added(-points[i], points[j], c).norm())
            for i in range(N) for j in range(N) if i != j
        }  # fmt: skip
        terms = []
        for a in range(N):
            for p in positives(y, a):
                scores = torch.stack([-apart[a, p] / tau, *(-apart[a, n] / tau for n in negatives(y, a))])
                terms.append(-scores.log_softmax(0)[0])
        return torch.stack(terms).mean()

    assert (batch[0].norm(dim=1) > r).any(), "some are cut"
    agree(loss_of("hyperbolic", curvature=c, temperature=tau, radius=r), reference, batch)


@pytest.mark.parametrize(("curvature", "temperature"), [(0.1, 0.2), (0.0, 0.1)])
@pytest.mark.parametrize("images", [2, 4], ids=["two images of each class", "four"])
def test_the_hyperbolic_loss_is_what_its_authors_sum_over_pairs_of_images(images, curvature, temperature):
    """htdt/hyp_metric train.py: z[:, i] against z[:, j] of all classes, for each i != j; no ball where c is 0."""
    z, y = drawn(K * images)
    distance = ball_distances(z, curvature, 2.3) if curvature else -torch.stack(unit(z)) @ torch.stack(unit(z)).T

    def between(i, j):
        """Mean cross-entropy of the i-th images of the classes, each to find the j-th of its class among both."""
        first, second = (torch.arange(K) + K * place for place in (i, j))  # of classes 0, 1, ...
        alike = -distance[first][:, torch.cat([second, first])] / temperature
        return F.cross_entropy(alike - torch.eye(K, 2 * K).roll(K, 1) * 1e9, torch.arange(K))

    orders = [(i, j) for i in range(images) for j in range(images) if i != j]
    wanted = sum(between(i, j) for i, j in orders) / len(orders)
    settings = {"curvature": curvature, "temperature": temperature}
    torch.testing.assert_close(loss_of("hyperbolic", negatives="two_per_class", **settings)(z, y), wanted)
    every = loss_of("hyperbolic", **settings)(z, y)
    assert bool(torch.isclose(every, wanted, rtol=1e-6)) == (images == 2)


@pytest.mark.parametrize(
    "labels", [[0, 1, 2], [0, 0, 0, 0], [0, 0, 0, 1, 1, 2]], ids=["no positive", "one class", "uneven"]
)
@pytest.mark.parametrize("curvature", [0.0, 0.1])
def test_the_hyperbolic_loss_of_two_negatives_per_class_has_a_gradient_for_any_batch(labels, curvature):
    at = drawn(len(labels))[0].requires_grad_()
    loss = loss_of("hyperbolic", negatives="two_per_class", curvature=curvature)
    (slope,) = torch.autograd.grad(loss(at, torch.tensor(labels)), at)
    assert torch.isfinite(slope).all()


@pytest.mark.parametrize(("curvature", "radius"), [(1.0, 10.0), (10.0, 2.3), (0.1, 100.0)])
def test_the_hyperbolic_loss_keeps_points_off_the_edge_of_the_ball(batch, curvature, radius):
    loss = loss_of("hyperbolic", curvature=curvature, radius=radius)
    values, slopes = [], []
    for dtype in (torch.float32, torch.float64):
        at = (100 * batch[0]).to(dtype).requires_grad_()
        values.append(loss(at, batch[1]))
        slopes.append(torch.autograd.grad(values[-1], at)[0].double())
    torch.testing.assert_close(values[0].double(), values[1], rtol=1e-3, atol=0)
    assert (slopes[0] - slopes[1]).norm() <= 1e-2 * slopes[1].norm()


def test_ranks_in_parts_are_those_of_the_whole(batch, monkeypatch):
    z, y = batch
    loss = loss_of("smooth_ap", temperature=0.1)
    at = z.clone().requires_grad_()
    whole = loss(at, y)
    (slope,) = torch.autograd.grad(whole, at)
    monkeypatch.setattr("workbench.losses.shared.pair_parts.AT_ONCE", 7 * N)
    parts = loss(at, y)
    torch.testing.assert_close(parts, whole, rtol=1e-12, atol=0)
    torch.testing.assert_close(torch.autograd.grad(parts, at)[0], slope, rtol=1e-9, atol=1e-15)


def test_nt_xent_is_eq_1_over_both_views_of_each_image():
    z = torch.randn(N, D, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.arange(N // 2).repeat(2)  # the views of an image share its number
    loss = build_loss("nt_xent", num_classes=N // 2, embedding_dim=D, temperature=0.3).eval()

    def reference(z, y):
        u, total = unit(z), 0.0
        for i in range(N):
            others = [(u[i] @ u[k] / 0.3).exp() for k in range(N) if k != i]
            other_view = (i + N // 2) % N
            total = total - torch.log((u[i] @ u[other_view] / 0.3).exp() / sum(others))
        return total / N

    agree(loss, reference, (z, labels))
