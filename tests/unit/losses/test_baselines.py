"""Every baseline against its equation written out in loops, in float64; value and gradient."""

import math

import pytest
import torch
from torch.nn import functional as F

from tests.unit.losses.agreement import agree
from tests.unit.losses.small_batch import D, K, N, drawn, negatives, positives, unit
from tests.unit.losses.small_batch import evaluated as loss_of
from workbench.losses import build_loss
from workbench.losses.shared.distance_weighted import times_drawn
from workbench.losses.shared.memory import Memory

PAIR_LOSSES = ["contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet"]


@pytest.fixture
def batch():
    return drawn()


def lse(values):
    return torch.logsumexp(torch.stack(values), 0)


def test_triplet_takes_the_semi_hard_negative(batch):
    def reference(z, y):
        u, terms = unit(z), []
        for a in range(N):
            for p in positives(y, a):
                pulled = (u[a] - u[p]).square().sum()
                far = {n: (u[a] - u[n]).square().sum() for n in negatives(y, a)}
                beyond = {n: each for n, each in far.items() if each > pulled}
                chosen = min(beyond.values()) if beyond else max(far.values())
                terms.append((pulled - chosen + 0.2).clamp_min(0))
        return torch.stack(terms).mean()

    agree(loss_of("triplet", margin=0.2), reference, batch)


def test_a_negative_as_far_as_the_positive_is_not_semi_hard():
    axes = torch.eye(3, dtype=torch.float64)
    z = torch.stack([axes[0], axes[1], axes[2], -axes[0]])  # from the first: 2, 2 and 4, squared
    pairs = [2 - 4, 2 - 2]  # from the second no negative is farther than its positive: the farthest of all, at 2
    wanted = sum(max(0.0, pair + 0.2) for pair in pairs) / 2
    assert loss_of("triplet", margin=0.2)(z, torch.tensor([0, 0, 1, 2])).item() == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("triplets", ["semi_hard", "all"])
def test_triplets_of_a_single_class_have_no_value_and_a_single_negative_counts(triplets, batch):
    loss, (z, _) = loss_of("triplet", margin=0.2, triplets=triplets), batch
    assert loss(z, torch.zeros(N, dtype=torch.int64)).item() == 0
    apart = torch.tensor([0.0, 0.1, 0.15], dtype=torch.float64)
    z = torch.stack([apart.cos(), apart.sin()], 1)
    squared = [(2 - 2 * math.cos(angle)) for angle in (0.1, 0.15, 0.05)]  # the pair, and each of it to the negative
    pulled, *pushed = squared if triplets == "semi_hard" else map(math.sqrt, squared)
    wanted = sum(pulled - far + 0.2 for far in pushed) / 2
    assert loss(z, torch.tensor([0, 0, 1])).item() == pytest.approx(wanted, rel=1e-6)


def test_triplets_of_ccp_s_tables_are_all_that_are_not_far_enough_unsquared(batch):
    def reference(z, y):
        u, terms = unit(z), []
        for a in range(N):
            for p, n in [(p, n) for p in positives(y, a) for n in negatives(y, a)]:
                term = (u[a] - u[p]).norm() - (u[a] - u[n]).norm() + 0.2
                terms += [term] if term > 0 else []
        return torch.stack(terms).mean()

    agree(loss_of("triplet", margin=0.2, triplets="all"), reference, batch)


def test_lifted_is_eq_8(batch):
    def reference(z, y):
        u, terms = unit(z), []
        for a in range(N):
            far = lse([(u[a] - u[p]).norm() for p in positives(y, a)])
            near = lse([1.0 - (u[a] - u[n]).norm() for n in negatives(y, a)])
            terms.append((far + near).clamp_min(0))
        return torch.stack(terms).mean()

    agree(loss_of("lifted", margin=1.0), reference, batch)


def test_npairs_is_eq_6_over_all_pairs(batch):
    def reference(z, y):
        terms = [
            torch.log(1 + sum(torch.exp(z[a] @ z[n] - z[a] @ z[p]) for n in negatives(y, a)))
            for a in range(N)
            for p in positives(y, a)
        ]
        return torch.stack(terms).mean() + 0.01 * sum(each @ each for each in z) / N

    agree(loss_of("npairs", l2=0.01), reference, batch)


@pytest.mark.parametrize("angle", [40.0, 72.0, 80.0])
def test_angular_is_eq_8(batch, angle):
    t = math.tan(math.radians(angle)) ** 2

    def reference(z, y):
        u, terms = unit(z), []
        for a in range(N):
            for p in positives(y, a):
                of = [4 * t * (u[a] + u[p]) @ u[n] - 2 * (1 + t) * u[a] @ u[p] for n in negatives(y, a)]
                terms.append(torch.log(1 + sum(each.exp() for each in of)))
        return torch.stack(terms).mean()

    agree(loss_of("angular", angle=angle), reference, batch)


def test_angular_is_the_same_in_pieces(batch, monkeypatch):
    z, y = batch
    loss = loss_of("angular", angle=80.0)  # too steep for a product, which makes no table of pairs
    at = z.clone().requires_grad_()
    whole = loss(at, y)
    (slope,) = torch.autograd.grad(whole, at)
    monkeypatch.setattr("workbench.losses.shared.pair_parts.AT_ONCE", 3 * N)
    parts = loss(at, y)
    torch.testing.assert_close(parts, whole, rtol=1e-12, atol=0)
    torch.testing.assert_close(torch.autograd.grad(parts, at)[0], slope, rtol=1e-9, atol=1e-15)


def test_margin_is_eq_4_with_the_expected_negative(batch):
    def reference(z, y):
        u, total, counted = unit(z), 0.0, 0.0
        for a in range(N):
            apart = {i: (u[a] - u[i]).norm() for i in range(N) if i != a}
            for p in positives(y, a):
                pull = (apart[p] - 1.25 + 0.25).clamp_min(0)
                total, counted = total + pull, counted + float(pull > 0)
            near = {n: apart[n].item() for n in negatives(y, a) if apart[n] < 1.4}
            if not near:
                continue
            clamped = {n: min(max(d, 0.5), 1.4) for n, d in near.items()}
            weight = {n: d ** (2 - D) * (1 - d * d / 4) ** ((3 - D) / 2) for n, d in clamped.items()}
            for n, each in weight.items():
                times = len(positives(y, a)) * each / sum(weight.values())
                push = (1.25 - apart[n] + 0.25).clamp_min(0)
                total, counted = total + times * push, counted + times * float(push > 0)
        return total / counted

    agree(loss_of("margin", margin=0.25, boundary=1.25), reference, batch)


def test_margin_can_have_a_boundary_of_its_own_for_each_class_of_anchors(batch):
    z, y = batch
    one, own = loss_of("margin").double(), loss_of("margin", boundaries="per_class").double()
    torch.testing.assert_close(own.eval()(z, y), one.eval()(z, y))
    of_class = 1 + 0.1 * torch.arange(len(own.boundary), dtype=torch.float64)
    own.load_state_dict({"boundary": of_class})
    apart = torch.cdist(F.normalize(z), F.normalize(z))
    positive = (y[:, None] == y).fill_diagonal_(False)
    times = times_drawn(apart, y[:, None] != y, positive.sum(1), D, training=False)
    pull = (apart - of_class[y][:, None] + 0.2).clamp_min(0) * positive
    push = (of_class[y][:, None] - apart + 0.2).clamp_min(0)
    counted = (pull > 0).sum() + (times * (push > 0)).sum()
    value = own(z, y)
    torch.testing.assert_close(value, (pull.sum() + (times * push).sum()) / counted)
    value.backward()
    absent = [label for label in range(len(of_class)) if label not in y]
    assert own.boundary.grad[absent].count_nonzero() == 0
    assert own.boundary.grad.count_nonzero() > 1


def test_distance_weighted_draws_have_the_expected_frequencies():
    torch.manual_seed(0)
    points = F.normalize(torch.randn(6, 8))
    apart = torch.cdist(points, points)
    negative = ~torch.eye(6, dtype=torch.bool)
    wanted = torch.tensor([3, 0, 1, 1, 1, 1])
    expected = times_drawn(apart, negative, wanted, 8, training=False)
    drawn = sum(times_drawn(apart, negative, wanted, 8, training=True) for _ in range(4000)) / 4000
    torch.testing.assert_close(drawn, expected, atol=0.05, rtol=0.1)
    assert (drawn[1] == 0).all()
    assert (drawn.sum(1)[(apart < 1.4).logical_and(negative).any(1)] > 0).sum() == 5


def test_nca_is_the_log_of_eq_1(batch):
    def reference(z, y):
        u, terms = unit(z), []
        for a in range(N):
            of = {i: torch.exp(-8 * (u[a] - u[i]).square().sum()) for i in range(N) if i != a}
            terms.append(-torch.log(sum(of[p] for p in positives(y, a)) / sum(of.values())))
        return torch.stack(terms).mean()

    agree(loss_of("nca", scale=8.0), reference, batch)


def naive_snca(z, y, kept, kept_labels):
    u, terms = unit(z), []
    for a in range(N):
        others = [(u[i], y[i]) for i in range(N) if i != a] + list(zip(kept, kept_labels, strict=True))
        own = lse([u[a] @ v / 0.1 for v, label in others if label == y[a]])
        terms.append(lse([u[a] @ v / 0.1 for v, _ in others]) - own)
    return torch.stack(terms).mean()


def test_snca_is_the_equation_within_the_batch_and_with_its_memory(batch):
    agree(loss_of("snca", temperature=0.1), lambda z, y: naive_snca(z, y, [], []), batch)
    z, y = batch
    loss = loss_of("snca", temperature=0.1, memory=8).double().train()
    loss(z, y)
    kept, labels = [z[i] / z[i].norm() for i in range(4, N)], y[4:]
    torch.testing.assert_close(loss(2 - z, y), naive_snca(2 - z, y, kept, labels))


def test_a_memory_is_a_queue_of_the_last():
    memory = Memory(5, 1)
    memory.add(torch.tensor([[0.0], [1.0], [2.0]]), torch.tensor([0, 1, 2]))
    assert memory.contents()[1].tolist() == [0, 1, 2]
    places = memory.add(torch.tensor([[3.0], [4.0], [5.0]]), torch.tensor([3, 4, 5]))
    assert sorted(memory.contents()[1].tolist()) == [1, 2, 3, 4, 5]
    assert memory.contents()[1][places].tolist() == [3, 4, 5]
    places = memory.add(torch.arange(7.0)[:, None], torch.arange(7))
    assert sorted(memory.contents()[1].tolist()) == [2, 3, 4, 5, 6]
    assert places[:2].tolist() == [-1, -1]
    assert memory.contents()[1][places[2:]].tolist() == [2, 3, 4, 5, 6]
    assert memory.contents()[0][:, 0].tolist() == memory.contents()[1].tolist()


def test_supcon_is_eq_2(batch):
    def reference(z, y):
        u, terms = unit(z), []
        for a in range(N):
            every = lse([u[a] @ u[i] / 0.1 for i in range(N) if i != a])
            terms.append(-sum(u[a] @ u[p] / 0.1 - every for p in positives(y, a)) / len(positives(y, a)))
        return torch.stack(terms).mean()

    agree(loss_of("supcon", temperature=0.1), reference, batch)
    agree(loss_of("kcl", temperature=0.1), reference, batch)


def test_center_is_eq_5(batch):
    loss = loss_of("center", weight=0.5)
    torch.nn.init.normal_(loss.centres)
    weight, bias = loss.classifier.weight.detach().double(), loss.classifier.bias.detach().double()
    centres = loss.centres.detach().double()

    def reference(z, y):
        ce = -sum((weight @ z[i] + bias).log_softmax(0)[y[i]] for i in range(N)) / N
        return ce + 0.25 * sum((z[i] - centres[y[i]]).square().sum() for i in range(N)) / N

    agree(loss, reference, batch)


def test_center_takes_embeddings_in_double_precision_as_they_are(batch):
    z, y = batch
    loss = loss_of("center", weight=100.0)
    torch.nn.init.zeros_(loss.classifier.weight)
    other = z.clone().requires_grad_()
    (slope,) = torch.autograd.grad(loss(other, y), other)
    torch.testing.assert_close(slope, 100 * z / N)


def test_proxy_nca_is_eq_6(batch):
    loss = loss_of("proxy_nca", temperature=1 / 9)
    proxies = [p / p.norm() for p in loss.proxies.detach().double()]

    def reference(z, y):
        u = unit(z)
        of = [torch.stack([-9 * (u[i] - p).square().sum() for p in proxies]) for i in range(N)]
        return -sum(of[i].log_softmax(0)[y[i]] for i in range(N)) / N

    agree(loss, reference, batch)


def test_soft_triple_is_eq_7_and_9(batch):
    loss = loss_of("soft_triple", centres=3, scale=20.0, gamma=0.1, margin=0.01, merging=0.2)
    centres = F.normalize(loss.centres.detach().double(), dim=2)

    def reference(z, y):
        u, total = unit(z), 0.0
        for i in range(N):
            scores = []
            for c in range(K):
                cosines = centres[c] @ u[i]
                scores.append((torch.softmax(cosines / 0.1, 0) * cosines).sum())
            shifted = torch.stack([20 * (s - (0.01 if c == y[i] else 0)) for c, s in enumerate(scores)])
            total = total - shifted.log_softmax(0)[y[i]]
        pairs = [(c, s, t) for c in range(K) for t in range(3) for s in range(t + 1, 3)]
        spread = sum((2 - 2 * centres[c, s] @ centres[c, t]).sqrt() for c, s, t in pairs) / (K * 3 * 2)
        return total / N + 0.2 * spread

    agree(loss, reference, batch)


def within(vectors):
    """Every row no longer than one."""
    return [row if row.norm() <= 1 else row / row.norm() for row in vectors]


def with_short_vectors(loss):
    """The loss with class vectors of lengths from 0.2 to 3."""
    vectors = loss.class_proxies()[0]
    with torch.no_grad():
        vectors *= torch.linspace(0.2, 3, len(vectors))[:, None] / vectors.norm(dim=1, keepdim=True)
    return loss


def test_proxy_nca_within_the_ball_takes_distances_of_bounded_vectors(batch):
    loss = with_short_vectors(loss_of("proxy_nca", temperature=0.1, bounded=True))
    proxies = within(loss.proxies.detach().double())

    def reference(z, y):
        u = within(z)
        of = [torch.stack([-10 * (u[i] - p).square().sum() for p in proxies]) for i in range(N)]
        return -sum(of[i].log_softmax(0)[y[i]] for i in range(N)) / N

    agree(loss, reference, short_and_long(batch))


def test_proxy_anchor_within_the_ball_takes_products_of_bounded_vectors(batch):
    loss = with_short_vectors(loss_of("proxy_anchor", margin=0.1, alpha=4.0, bounded=True))
    proxies = within(loss.anchors.proxies.detach().double())

    def reference(z, y):
        u, pulls, pushes = within(z), [], []
        for k, proxy in enumerate(proxies):
            pulls.append((1 + sum((-4 * (u[i] @ proxy - 0.1)).exp() for i in range(N) if y[i] == k)).log())
            pushes.append((1 + sum((4 * (u[i] @ proxy + 0.1)).exp() for i in range(N) if y[i] != k)).log())
        return sum(pulls) / K + sum(pushes) / K

    agree(loss, reference, short_and_long(batch))


def test_soft_triple_within_the_ball_takes_products_of_bounded_vectors(batch):
    fields = {"centres": 3, "scale": 20.0, "gamma": 0.1, "margin": 0.01, "merging": 0.2}
    loss = with_short_vectors(loss_of("soft_triple", bounded=True, **fields))
    centres = torch.stack(within(loss.centres.detach().double().flatten(0, 1))).view(K, 3, D)

    def reference(z, y):
        u, total = within(z), 0.0
        for i in range(N):
            scores = [(torch.softmax(centres[c] @ u[i] / 0.1, 0) * (centres[c] @ u[i])).sum() for c in range(K)]
            shifted = torch.stack([20 * (s - (0.01 if c == y[i] else 0)) for c, s in enumerate(scores)])
            total = total - shifted.log_softmax(0)[y[i]]
        pairs = [(c, s, t) for c in range(K) for t in range(3) for s in range(t + 1, 3)]
        spread = sum((centres[c, s] - centres[c, t]).norm() for c, s, t in pairs) / (K * 3 * 2)
        return total / N + 0.2 * spread

    agree(loss, reference, short_and_long(batch))


@pytest.mark.parametrize("bounded", [False, True])
def test_centres_of_soft_triple_that_are_the_same_have_a_gradient(batch, bounded):
    """They are drawn together until they are; the root of the distance has none there."""
    loss = loss_of("soft_triple", centres=3, bounded=bounded)
    with torch.no_grad():
        loss.centres[:, 1] = loss.centres[:, 0]
    loss(batch[0].float(), batch[1]).backward()
    assert torch.isfinite(loss.centres.grad).all()


def short_and_long(batch):
    """The batch with every other embedding a tenth as long."""
    z, y = batch
    return z * torch.where(torch.arange(N) % 2 == 0, 0.1, 1.0).double()[:, None], y


@pytest.mark.parametrize("name", ["proxy_anchor", "proxy_nca", "soft_triple"])
def test_proxies_within_the_ball_start_as_short_as_in_ccp_s_code(name):
    """yetigurbuz/ccp-dml framework/utilities/proxy_utils.py: he_normal, a variance of 2 / proxies."""
    torch.manual_seed(0)
    params = {"centres": 1} if name == "soft_triple" else {}
    proxies, _ = build_loss(name, num_classes=500, embedding_dim=128, bounded=True, **params).class_proxies()
    torch.testing.assert_close(proxies.var(), torch.tensor(2 / 500), rtol=0.03, atol=0)


@pytest.mark.parametrize("margin", [-0.2, 0.0, 0.5])
def test_contrastive_by_cosine_is_what_xbm_s_authors_run(batch, margin):
    def reference(z, y):
        u, total = unit(z), 0.0
        for a in range(N):
            for b in range(N):
                s = u[a] @ u[b]
                if y[a] == y[b]:
                    total = total + (1 - s if s < 1 - 1e-5 else 0)
                elif s > margin:
                    total = total + s
        return total / N

    agree(loss_of("contrastive_cosine", margin=margin), reference, batch)


@pytest.mark.parametrize(
    "inner", ["contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet"]
)
def test_xbm_without_memory_is_a_pair_loss_and_adds_the_memory_s_pairs(inner, batch):
    z, y = batch
    loss = loss_of("xbm", inner=inner, memory=2 * N, warm_up=1, margin=1.0).double()
    if inner == "contrastive":
        torch.testing.assert_close(loss(z, y), loss_of("contrastive", margin=1.0)(z, y))
    if inner == "contrastive_cosine":
        torch.testing.assert_close(loss(z, y), loss_of(inner)(z, y))
    if inner == "contrastive_positive_margin":
        same = {"positive_margin": 0.3, "negative_margin": 1.0}
        torch.testing.assert_close(loss(z, y), loss_of(inner, **same)(z, y))
    if inner == "triplet":
        torch.testing.assert_close(loss(z, y), loss_of("triplet", margin=0.2)(z, y))
    within = loss(2 - z, y)
    loss.train()
    loss(z, y)  # fills the memory; the next step uses it
    value = loss(2 - z, y)
    assert value > within
    u, kept, classes = unit(2 - z), unit(z) + unit(2 - z), y.repeat(2)
    same = [[m for m in range(2 * N) if classes[m] == y[a] and m != N + a] for a in range(N)]
    others = [[m for m in range(2 * N) if classes[m] != y[a]] for a in range(N)]
    if inner == "contrastive":
        pulls = [(u[a] - kept[m]).square().sum() for a in range(N) for m in same[a]]
        short = [1 - (u[a] - kept[m]).norm() for a in range(N) for m in others[a]]
        pushes = [lacking**2 for lacking in short if lacking > 0]
        torch.testing.assert_close(value - within, torch.stack(pulls).mean() + torch.stack(pushes).mean())
    if inner == "contrastive_cosine":
        wanted = sum(1 - u[a] @ kept[m] for a in range(N) for m in same[a])
        wanted += sum(u[a] @ kept[m] for a in range(N) for m in others[a] if u[a] @ kept[m] > 0.5)
        torch.testing.assert_close(value - within, wanted / N)
    if inner == "triplet":
        terms = []
        for a in range(N):
            apart = [(u[a] - kept[m]).square().sum() for m in range(2 * N)]
            far = [apart[m] for m in others[a]]
            for pulled in (apart[m] for m in same[a]):
                beyond = [each for each in far if each > pulled]
                terms.append((pulled - (min(beyond) if beyond else max(far)) + 0.2).clamp_min(0))
        torch.testing.assert_close(value - within, torch.stack(terms).mean())


@pytest.mark.parametrize("inner", ["contrastive_cosine", "contrastive_positive_margin"])
def test_xbm_stores_a_batch_before_it_is_compared_as_its_authors_do(inner, batch):
    """msight-tech/research-xbm ret_benchmark/engine/trainer.py: enqueue_dequeue, then the loss; so does CCP's code."""
    z, y = batch
    loss = loss_of("xbm", inner=inner, memory=N, warm_up=0, margin=1.0).double()
    within = loss(z, y)
    there = z.clone().requires_grad_()
    value = loss.train()(there, y)  # the memory holds this batch alone
    torch.testing.assert_close(value, 2 * within)
    (slope,) = torch.autograd.grad(value, there)
    (half,) = torch.autograd.grad(loss.eval()(there, y), there)
    torch.testing.assert_close(slope, 1.5 * half)  # what is stored is constant, so each pair counts from one side only


INNER = ["contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet"]


@pytest.mark.parametrize("inner", INNER)
def test_xbm_of_bounded_vectors_is_that_of_unit_vectors_where_all_are_long(inner, batch):
    z, y = batch
    fields = {"inner": inner, "memory": 3 * N, "warm_up": 0, "margin": 1.0}
    values, gradients = [], []
    for within in (False, True):
        loss, longer = loss_of("xbm", bounded=within, **fields).double().train(), (5 * z).requires_grad_()
        loss(-3 * z, y)
        value = loss(longer, y)
        value.backward()
        values.append(value.detach())
        gradients.append(longer.grad)
    torch.testing.assert_close(*values)
    torch.testing.assert_close(*gradients)


def test_xbm_of_bounded_vectors_compares_short_ones_as_they_are():
    """By hand: contrastive with positive margin, of three vectors on a line and a memory that holds them."""
    z = torch.tensor([[0.1, 0.0], [0.5, 0.0], [3.0, 0.0]], dtype=torch.float64)
    y = torch.tensor([0, 0, 1])
    fields = {"memory": 3, "warm_up": 0, "positive_margin": 0.3, "margin": 0.6}
    loss = build_loss(
        "xbm", num_classes=2, embedding_dim=2, inner="contrastive_positive_margin", bounded=True, **fields
    )
    within = (0.4 - 0.3) + (0.6 - 0.5)  # the third vector is at 1: 0.9 and 0.5 away
    torch.testing.assert_close(loss.double().train()(z, y).item(), 2 * within)
    torch.testing.assert_close(loss.memory.contents()[0], z.clamp(max=1))


def test_xbm_can_begin_with_an_empty_memory_after_its_warm_up_as_its_authors_do(batch):
    """msight-tech/research-xbm ret_benchmark/engine/trainer.py: if iteration > START_ITERATION: enqueue_dequeue."""
    z, y = batch
    loss = loss_of("xbm", memory=3 * N, warm_up=2, filled="after_warm_up").double()
    within, first, second = loss.eval()(z, y), loss.train()(-z, y), loss(-z, y)
    torch.testing.assert_close(first, within)
    torch.testing.assert_close(second, within)
    torch.testing.assert_close(loss(z, y), 2 * within)  # of this batch alone


@pytest.mark.parametrize(
    "inner", ["contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet"]
)
@pytest.mark.parametrize("labels", [[0, 1] * 4, [0] * 8, list(range(8))], ids=["pairs", "one class", "no positive"])
def test_xbm_is_finite_with_an_empty_memory_and_without_pairs(inner, labels):
    loss = build_loss("xbm", num_classes=8, embedding_dim=4, inner=inner, memory=5, warm_up=0).train()
    for step in range(3):
        z = torch.randn(8, 4, generator=torch.Generator().manual_seed(step)).requires_grad_()
        value = loss(z, torch.tensor(labels))
        (slope,) = torch.autograd.grad(value, z)
        assert torch.isfinite(value)
        assert torch.isfinite(slope).all()
