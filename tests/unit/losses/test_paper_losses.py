"""ICE, PSCE and its relatives, and RankMI against the papers' equations written out."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from tests.unit.losses.agreement import agree
from workbench.losses import build_loss
from workbench.losses.prototypes import canonical, repelling, simplex, uniform
from workbench.problem import Problem

N, D, K = 12, 5, 3


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(N, D, generator=generator, dtype=torch.float64), torch.arange(N) % K


def loss_of(name, dim=D, classes=K, **params):
    torch.manual_seed(0)
    return build_loss(name, num_classes=classes, embedding_dim=dim, **params).eval()


def naive_ice(z, y, s):
    """Eq. 5 averaged, and the weights of Eq. 11 to 14, in loops."""
    u = F.normalize(z)
    terms, plus, minus = [], torch.zeros(N, N, dtype=z.dtype), torch.zeros(N, N, dtype=z.dtype)
    for a in range(N):
        pos = [i for i in range(N) if i != a and y[i] == y[a]]
        neg = [j for j in range(N) if y[j] != y[a]]
        among = sum(torch.exp(s * u[a] @ u[j]) for j in neg)
        p = {i: torch.exp(s * u[a] @ u[i]) / (torch.exp(s * u[a] @ u[i]) + among) for i in pos}
        missed = sum(1 - p[i] for i in pos)
        for i in pos:
            terms.append(-torch.log(p[i]))
            plus[a, i] = (1 - p[i]) / missed / (2 * N)
        for j in neg:
            hits = sum(torch.exp(s * u[a] @ u[j]) / (torch.exp(s * u[a] @ u[i]) + among) for i in pos)
            minus[a, j] = hits / missed / (2 * N)
    return torch.stack(terms).mean(), plus, minus


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ice_has_the_value_of_eq_5_and_the_gradient_of_eq_15(batch, dtype):
    z, y = batch
    value, plus, minus = naive_ice(z, y, 8.0)
    u = F.normalize(z)
    of_unit = (minus - plus).T @ u  # Eq. 15: every anchor's vector times the weight it gives
    of_unit = of_unit - (of_unit * u).sum(1, keepdim=True) * u  # through the normalisation
    slope = of_unit / z.norm(dim=1, keepdim=True)
    other = z.to(dtype).requires_grad_()
    loss = loss_of("ice", scale=8.0).to(dtype)
    found = loss(other, y)
    (gradient,) = torch.autograd.grad(found, other)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-9
    torch.testing.assert_close(found.double(), value, rtol=tolerance, atol=0)
    assert (gradient.double() - slope).norm() <= tolerance * slope.norm()


@given(seed=st.integers(0, 1000), scale=st.sampled_from([1.0, 64.0, 1000.0]), n=st.integers(4, 30))
def test_ice_s_weights_sum_to_half_of_one_anchor_s_share(seed, scale, n):
    generator = torch.Generator().manual_seed(seed)
    z, y = torch.randn(n, 4, generator=generator), torch.arange(n) % 2
    loss = loss_of("ice", classes=2, dim=4, scale=scale)
    for weights in loss.weights(z, y):
        torch.testing.assert_close(weights.sum(1), torch.full((n,), 1 / (2 * n)))


def test_ice_counts_the_anchors_that_it_leaves_out(batch):
    loss = loss_of("ice", scale=8.0)
    z = batch[0]
    loss(z, torch.tensor([0, 0, 0, 0, 1, 2] + [0] * 6))
    assert loss.left_out == 2
    assert loss(z, torch.zeros(N, dtype=torch.int64)).item() == 0
    assert loss.left_out == N
    (chart,) = loss.charts(*batch)
    assert [marks.title for marks in chart.marks] == ["positives", "negatives"]
    assert all(sum(marks.y) == pytest.approx(1) for marks in chart.marks)


def in_bins(values, low, high):
    """The middles of 40 equal bins and how many values are in each."""
    counts, edges = np.histogram(values.detach().numpy(), 40, (low, high))
    return (edges[:-1] + edges[1:]) / 2, counts


@pytest.mark.parametrize("scale", [8.0, 64.0])
def test_ice_draws_the_weights_of_its_pairs(batch, scale):
    """Down to 1e-12: what weighs less is in the first bin."""
    loss = loss_of("ice", scale=scale)
    (chart,) = loss.charts(*batch)
    for marks, weights in zip(chart.marks, loss.weights(*batch), strict=True):
        logs = weights[weights > 0].log10().clamp(min=-12)
        middles, counts = in_bins(logs, -12, 0)
        assert marks.x == pytest.approx(middles, abs=1e-5)
        assert marks.y == pytest.approx(counts / len(logs))


def test_psce_draws_the_distances_of_its_prototypes_and_the_lengths_of_embeddings(batch):
    loss = loss_of("psce", classes=20, prototypes="random")
    for chart, values in zip(
        loss.charts(*batch), (torch.pdist(loss.prototypes), batch[0].norm(dim=1).float()), strict=True
    ):
        middles, counts = in_bins(values, values.min().item(), values.max().item())
        assert chart.marks[0].x == pytest.approx(middles)
        assert chart.marks[0].y == tuple(counts)


def test_psce_draws_equal_distances_in_the_middle_of_a_range(batch):
    distance = math.sqrt(2 * K / (K - 1))
    (bars,) = loss_of("psce", prototypes="simplex").charts(*batch)[0].marks
    assert (bars.x[0], bars.x[-1]) == pytest.approx((distance - 0.5 + 1 / 80, distance + 0.5 - 1 / 80), abs=1e-5)
    filled = [x for x, count in zip(bars.x, bars.y, strict=True) if count]
    assert filled == pytest.approx([distance] * len(filled), abs=1 / 40)
    assert sum(bars.y) == K * (K - 1) / 2


def test_psce_with_canonical_prototypes_is_cross_entropy_on_the_raw_outputs():
    z, y = torch.randn(N, K, generator=torch.Generator().manual_seed(0)), torch.arange(N) % K
    torch.testing.assert_close(loss_of("psce", dim=K, prototypes="canonical")(z, y), F.cross_entropy(z, y))


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("without", [False, True])
def test_psce_and_its_ablations_are_eq_7(batch, normalised, without):
    loss = loss_of("psce", normalised=normalised, without_own_class=without)
    p = loss.prototypes.double()

    def reference(z, y):
        total = 0.0
        for i in range(N):
            v = z[i] / z[i].norm() if normalised else z[i]
            of = [torch.exp(v @ p[k]) for k in range(K) if not (without and k == y[i])]
            total = total - torch.log(torch.exp(v @ p[y[i]]) / sum(of))
        return total / N

    agree(loss, reference, batch)
    assert torch.autograd.gradcheck(lambda each: loss(each, batch[1]), batch[0].clone().requires_grad_())


@pytest.mark.parametrize(("classes", "dim"), [(3, 2), (3, 3), (10, 9), (10, 64), (100, 128)])
def test_simplex_prototypes_are_equally_far_apart(classes, dim):
    loss = loss_of("psce", classes=classes, dim=dim)
    apart = torch.pdist(loss.prototypes.double())
    torch.testing.assert_close(apart, torch.full_like(apart, math.sqrt(2 * classes / (classes - 1))), atol=1e-6, rtol=0)
    assert loss.spread() < 2e-6


def test_repelling_prototypes_are_farther_apart_than_random_ones():
    nearest = {kind: torch.pdist(loss_of("psce", classes=10, dim=4, prototypes=kind).prototypes).min() for kind in
               ("repelling", "random")}  # fmt: skip
    assert nearest["repelling"] > 1.5 * nearest["random"]


def test_prototypes_of_least_energy_are_an_octahedron():
    """Of six points in three dimensions, whatever falls with the distance (Cohn and Kumar 2007)."""
    points = repelling(6, 3).double()
    torch.testing.assert_close(points.norm(dim=1), torch.ones(6, dtype=torch.float64))
    wanted = torch.tensor([math.sqrt(2)] * 12 + [2.0] * 3, dtype=torch.float64)
    torch.testing.assert_close(torch.pdist(points).sort().values, wanted, atol=1e-4, rtol=0)


@pytest.mark.parametrize("made", [repelling, uniform])
def test_prototypes_of_any_number_have_unit_length_and_are_those_of_their_seed(made, monkeypatch):
    monkeypatch.setattr("workbench.losses.prototypes.STEPS", 3)
    for classes, dim in [(1, 3), (1, 1), (2, 1), (5, 3)]:
        points = made(classes, dim, seed=4)
        assert points.shape == (classes, dim)
        torch.testing.assert_close(points.norm(dim=1), torch.ones(classes))
        assert torch.equal(points, made(classes, dim, seed=4))
    assert not torch.equal(made(5, 3, seed=4), made(5, 3, seed=5))
    for classes, dim in [(0, 3), (3, 0)]:
        with pytest.raises(ValueError, match=f"got {classes} and {dim}"):
            made(classes, dim)


def test_prototypes_on_axes_and_of_a_simplex_say_how_many_they_need():
    assert canonical(1).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="at least one class: got 0"):
        canonical(0)
    for classes, dim in [(1, 3), (4, 2)]:
        with pytest.raises(ValueError, match=f"needs {2 if classes < 2 else classes - 1} "):
            simplex(classes, dim)
    six = simplex(4, 3).double() @ simplex(4, 3).double().T
    torch.testing.assert_close(six, (4 * torch.eye(4) - 1).double() / 3, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("classes", "paper"), [(10, 1.38), (100, 1.94)])
def test_on_a_circle_prototypes_stand_evenly_as_in_table_8(classes, paper):
    loss = loss_of("psce", classes=classes, dim=2, prototypes="repelling")
    assert torch.pdist(loss.prototypes.double()).min().item() == pytest.approx(
        2 * math.sin(math.pi / classes), rel=1e-4
    )
    assert loss.spread() == pytest.approx(paper, abs=0.005)
    chart = loss.charts(torch.ones(2, 2), torch.zeros(2, dtype=torch.int64))[0]
    assert chart.note.startswith(f"Largest minus smallest distance: {loss.spread():.3g} (")
    for seed in (1, 2):  # after which those of the first seed are made again
        other = loss_of("psce", classes=classes, dim=2, prototypes="repelling", seed=seed)
        assert not torch.equal(loss.prototypes, other.prototypes)
    assert torch.equal(loss.prototypes, loss_of("psce", classes=classes, dim=2, prototypes="repelling").prototypes)


def test_many_prototypes_repel_each_other_in_turns(monkeypatch):
    monkeypatch.setattr("workbench.losses.prototypes.AT_ONCE", 8)
    few = loss_of("psce", classes=20, dim=3, prototypes="repelling").prototypes
    assert (
        torch.pdist(few).min()
        > 2 * torch.pdist(loss_of("psce", classes=20, dim=3, prototypes="random").prototypes).min()
    )
    assert torch.equal(few, loss_of("psce", classes=20, dim=3, prototypes="repelling").prototypes)


def test_prototypes_that_do_not_fit_are_a_sentence(tmp_path):
    with pytest.raises(Problem, match="3 dimensions, not 5"):
        loss_of("psce", prototypes="canonical")
    with pytest.raises(Problem, match="need 8 or more dimensions, not 2"):
        loss_of("psce", classes=9, dim=2, prototypes="simplex")
    with pytest.raises(Problem, match="cannot be read"):
        loss_of("psce", prototypes="file", file=str(tmp_path / "none.npy"))
    np.save(tmp_path / "p.npy", np.eye(3, 4, dtype=np.float32))
    with pytest.raises(Problem, match=r"shape \[3, 4\].*need \[3, 5\]"):
        loss_of("psce", prototypes="file", file=str(tmp_path / "p.npy"))
    np.save(tmp_path / "nan.npy", np.full((3, 5), np.nan, np.float32))
    with pytest.raises(Problem, match="not a number"):
        loss_of("psce", prototypes="file", file=str(tmp_path / "nan.npy"))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(Problem, match="cannot be read"):
        loss_of("psce", prototypes="file", file=str(tmp_path / "objects.npy"))
    np.savetxt(tmp_path / "own.csv", np.eye(3, 5), delimiter=",")
    assert torch.equal(loss_of("psce", prototypes="file", file=str(tmp_path / "own.csv")).prototypes, torch.eye(3, 5))


@pytest.mark.parametrize("prototypes", ["learned", "means"])
def test_psc_is_eq_2(batch, prototypes):
    loss = loss_of("psc", temperature=0.5, prototypes=prototypes)
    if prototypes == "means":
        torch.nn.init.normal_(loss.prototypes, generator=torch.Generator().manual_seed(0))
    c = F.normalize(loss.prototypes.detach().double())

    def reference(z, y):
        total = 0.0
        for i in range(N):
            of = [torch.exp(z[i] / z[i].norm() @ c[k] / 0.5) for k in range(K)]
            total = total - torch.log(of[y[i]] / sum(of[k] for k in range(K) if k != y[i]))
        return total / N

    agree(loss, reference, batch)


def test_psc_s_class_means_follow_the_embeddings_in_training_alone(batch):
    z, y = batch
    loss = loss_of("psc", prototypes="means")
    loss(z, y)
    assert not loss.prototypes.any()
    loss.train()
    for _ in range(100):
        loss(z, y)
    means = torch.stack([F.normalize(F.normalize(z)[y == label].mean(0), dim=0) for label in range(K)])
    torch.testing.assert_close(loss.prototypes, means.to(loss.prototypes.dtype), atol=1e-4, rtol=1e-4)
    assert not list(loss.parameters())


def test_kcl_draws_k_and_one_positives_in_training():
    z, y = torch.randn(40, D, generator=torch.Generator().manual_seed(0)), torch.zeros(40, dtype=torch.int64)
    loss = loss_of("kcl", positives=3)
    settled = loss(z, y)
    loss.train()
    torch.manual_seed(1)
    drawn = torch.stack([loss(z, y) for _ in range(300)])
    assert drawn.std() > 0
    assert drawn.mean().item() == pytest.approx(settled.item(), rel=0.02), "evaluation is the expectation"


def test_kcl_takes_all_positives_where_they_are_no_more_than_it_draws(batch):
    z, y = batch  # three positives for each of twelve
    loss = loss_of("kcl", positives=3)
    settled = loss(z, y)
    torch.testing.assert_close(loss.train()(z, y), settled)
    y = y.clone()
    y[0] = K  # an anchor without a positive is left out, drawn or not
    alone = build_loss("kcl", num_classes=K + 1, embedding_dim=D, positives=3)
    torch.testing.assert_close(alone.train()(z, y), alone.eval()(z, y))


def test_tsc_is_eq_3(batch):
    loss = loss_of("tsc", temperature=0.5, positives=3, weight=2.0)
    t = loss.targets.double()

    def reference(z, y):
        u, total = F.normalize(z), 0.0
        for i in range(N):
            every = torch.logsumexp(torch.stack([u[i] @ u[j] / 0.5 for j in range(N) if j != i]), 0)
            pos = [j for j in range(N) if j != i and y[j] == y[i]]  # 3 = N / K - 1
            total = total - sum(u[i] @ u[j] / 0.5 - every for j in pos) / len(pos)
            total = total - 2.0 / 4 * (u[i] @ t[y[i]] / 0.5 - every)
        return total / N

    agree(loss, reference, batch)


def test_tsc_s_targets_are_a_simplex_where_the_embedding_has_room_for_one():
    for dim, nearest in ((6, math.sqrt(12 / 5)), (5, math.sqrt(12 / 5)), (2, 1.0)):
        targets = loss_of("tsc", classes=6, dim=dim).targets.double()
        torch.testing.assert_close(targets.norm(dim=1), torch.ones(6, dtype=torch.float64))
        assert torch.pdist(targets).min().item() == pytest.approx(nearest, rel=1e-6)
    assert loss_of("tsc", classes=1).targets.norm().item() == pytest.approx(1), "a single class has a target, too"


def test_tsc_gives_each_class_the_target_that_lies_nearest():
    loss = loss_of("tsc", dim=K).train()
    turned = torch.tensor([2, 0, 1])
    y = torch.arange(N) % K
    for _ in range(99):
        loss(loss.targets[turned[y]].clone(), y)
    assert loss.assigned.tolist() == [0, 1, 2], "every hundred steps"
    loss(loss.targets[turned[y]].clone(), y)
    assert loss.assigned.tolist() == turned.tolist()


@pytest.mark.parametrize("depth", [2, 5])
def test_rankmi_s_network_is_layers_with_relu_between_them_and_a_line(depth):
    network = loss_of("rankmi", depth=depth, width=7).statistics.double()
    apart = torch.linspace(0, 2, 9, dtype=torch.float64)
    torch.testing.assert_close(network(apart), 2 - 2 * apart, rtol=0, atol=1e-12)  # as it starts
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in network.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
    assert len(network.layers) == depth
    for distance, v in zip(apart, network(apart), strict=True):
        hidden = distance[None]
        for layer in network.layers[:-1]:
            hidden = (layer.weight @ hidden + layer.bias).clamp(min=0)
        (expected,) = network.layers[-1].weight @ hidden + network.layers[-1].bias
        torch.testing.assert_close(v, expected + network.line[0] + network.line[1] * distance)


def test_rankmi_is_eq_4_up_to_its_constant(batch):
    z, y = batch
    loss = loss_of("rankmi").double()
    with torch.no_grad():
        for weight in loss.statistics.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)).double())
    u = F.normalize(z)
    apart = torch.stack(
        [torch.stack([(u[i] - u[j]).norm() if i != j else u[i, 0] * 0 for j in range(N)]) for i in range(N)]
    )

    def t_of(d):
        return math.log(2) - torch.log(1 + torch.exp(-loss.statistics(d[None])[0]))

    pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
    pos = torch.stack([t_of(apart[i, j]) for i, j in pairs if y[i] == y[j]]).mean()
    neg = torch.stack([torch.log(2 - torch.exp(t_of(apart[i, j]))) for i, j in pairs if y[i] != y[j]]).mean()
    assert loss.jsd_bound(z, y) == pytest.approx(max(0.0, (pos + neg).item()), abs=1e-9)


def test_rankmi_s_value_and_gradient_are_eq_4_with_the_expected_negatives(batch):
    loss = loss_of("rankmi", dim=3)  # on the sphere in 3 dimensions all distances weigh 1 / D alone
    network = loss_of("rankmi", dim=3).statistics.double()

    def reference(z, y):
        u, pos, neg, shares = F.normalize(z), [], [], []
        for a in range(N):
            pos += [(u[a] - u[p]).norm() for p in range(N) if p != a and y[p] == y[a]]
            apart = [(u[a] - u[n]).norm() for n in range(N) if y[n] != y[a]]
            near = [d for d in apart if d < 1.4]
            weights = [1 / max(0.5, d.item()) for d in near]
            neg, shares = neg + near, shares + [w / sum(weights) for w in weights]
        together = -F.logsigmoid(network(torch.stack(pos))).mean()
        among = -(torch.tensor(shares, dtype=z.dtype) * F.logsigmoid(-network(torch.stack(neg)))).sum() / sum(shares)
        return together + among

    agree(loss, reference, (batch[0][:, :3].contiguous(), batch[1]))


@given(seed=st.integers(0, 500), n=st.integers(1, 30), scale=st.sampled_from([0.0, 1.0, 100.0]))
def test_the_jsd_bound_lies_between_0_and_2_log_2(seed, n, scale):
    generator = torch.Generator().manual_seed(seed)
    loss = loss_of("rankmi")
    with torch.no_grad():
        loss.statistics.line.copy_(scale * torch.randn(2, generator=generator))
    bound = loss.jsd_bound(torch.randn(n, D, generator=generator), torch.randint(0, K, (n,), generator=generator))
    assert 0 <= bound <= 2 * math.log(2)


def test_the_jsd_bound_of_parted_classes_nears_2_log_2():
    loss = loss_of("rankmi", dim=3)
    with torch.no_grad():
        loss.statistics.line.copy_(torch.tensor([20.0, -28.0]))
    assert loss.jsd_bound(torch.eye(3)[torch.arange(N) % 3], torch.arange(N) % 3) == pytest.approx(
        2 * math.log(2), abs=1e-3
    )


@pytest.mark.parametrize(("offset", "slope"), [(2.0, -2.0), (1.0, -4.0), (5.0, -3.0)])
def test_beta_by_newton_is_beta_by_bisection(offset, slope):
    loss = loss_of("rankmi")
    with torch.no_grad():
        loss.statistics.line.copy_(torch.tensor([offset, slope]))
        torch.nn.init.normal_(loss.statistics.layers[-1].weight, std=0.01)
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        above = loss.statistics(torch.tensor([middle])).item() > 0
        low, high = (middle, high) if above else (low, middle)
    assert loss.find_boundary() == pytest.approx(low, abs=1e-4)
    assert loss.boundary_found


def test_a_root_outside_the_sphere_or_a_flat_network_keeps_the_last_beta():
    loss = loss_of("rankmi")
    with torch.no_grad():
        loss.statistics.line.copy_(torch.tensor([6.0, -2.0]))  # V = 0 at a distance of 3
    assert loss.find_boundary() == 1.0
    assert not loss.boundary_found
    with torch.no_grad():
        loss.statistics.line.copy_(torch.tensor([1.0, 0.0]))
    assert loss.find_boundary() == 1.0
    assert not loss.boundary_found


def test_order_loss_is_eq_10(batch):
    z, y = batch
    plain, ordered = loss_of("rankmi").double(), loss_of("rankmi", order=2.0).double()
    for loss in (plain, ordered):
        with torch.no_grad():
            loss.statistics.line.copy_(torch.tensor([0.0, 1.5]))
    # V rises by 1.5 at every distance: the mean over P and the mean over N add up to 3.
    torch.testing.assert_close(ordered(z, y) - plain(z, y), torch.tensor(2.0 * 3.0, dtype=torch.float64))


def test_rankmi_changes_the_network_and_the_embeddings_in_turn(batch):
    z, y = batch[0].float().requires_grad_(), batch[1]
    loss = loss_of("rankmi", ratio=2).train()
    changed = []
    for _ in range(6):
        z.grad = None
        loss.zero_grad()
        loss(z, y).backward()
        of_network = any(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in loss.parameters())
        changed.append(("network" if of_network else "") + ("embeddings" if z.grad is not None else ""))
    assert changed == ["network", "network", "embeddings"] * 2


def test_rankmi_draws_the_distances_of_both_kinds_of_pairs_and_v_and_t_over_them(batch):
    z, y = batch[0].float(), batch[1]
    loss = loss_of("rankmi")
    *bars, v, t, beta = loss.charts(z, y)[0].marks
    unit = F.normalize(z)
    for marks, alike in zip(bars, (True, False), strict=True):
        apart = torch.stack([
            (unit[i] - unit[j]).norm() for i in range(N) for j in range(N) if i != j and (y[i] == y[j]) == alike
        ])  # fmt: skip
        middles, counts = in_bins(apart, 0, 2)
        assert marks.x == pytest.approx(middles)
        assert marks.y == pytest.approx(counts / len(apart))
    of_middles = loss.statistics(torch.tensor(v.x)).tolist()
    assert v.x == t.x == bars[0].x
    assert v.y == pytest.approx(of_middles, abs=1e-6)
    assert t.y == pytest.approx([math.log(2 / (1 + math.exp(-value))) for value in of_middles], abs=1e-6)
    assert beta.x == (loss.boundary.item(),)


def test_rankmi_draws_its_panel(batch):
    loss = loss_of("rankmi")
    loss.charts(batch[0].float(), batch[1])
    for _ in range(3):
        loss.train()(batch[0].float(), batch[1])
    distances, over_time = loss.charts(batch[0].float(), batch[1])
    assert [marks.title for marks in distances.marks] == ["positives, share", "negatives, share", "V", "T", "β"]
    assert [marks.axis for marks in distances.marks] == ["left", "left", "right", "right", "left"]
    assert re.fullmatch(r"β = \d(\.\d{1,3})?( \(.*\))?", distances.note), distances.note
    assert re.fullmatch(r"Now 0(\.\d{1,4})? of at most 1\.39\.", over_time.note), "three digits"
    assert over_time.marks[0].x == (0, 3)
    assert len(over_time.marks[0].y) == 2
