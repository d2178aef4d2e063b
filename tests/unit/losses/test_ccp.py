"""CCP's loss against loops in float64, for every pair loss; what happens before the proxies; the penalty."""

import io
import math

import pytest
import torch

from workbench import registry
from workbench.losses import build_loss
from workbench.losses.ccp import bounded
from workbench.problem import Problem

N, D, K, M = 14, 5, 4, 3
INNER = ["contrastive", "contrastive_cosine", "contrastive_positive_margin", "multi_similarity", "triplet"]
every_inner = pytest.mark.parametrize("inner", INNER)


def loss_of(inner, **params):
    return build_loss("ccp", num_classes=K, embedding_dim=D, inner=inner, proxies=M, **params)


@pytest.fixture
def batch():
    """Some embeddings shorter than 1, some longer, so that Section 4.4 matters; one class is missing."""
    generator = torch.Generator().manual_seed(0)
    lengths = torch.linspace(0.2, 3, N, dtype=torch.float64)[:, None]
    vectors = bounded(torch.randn(N, D, generator=generator, dtype=torch.float64) * 9)
    return vectors * lengths, torch.arange(N) % (K - 1)


@pytest.fixture
def centres():
    return torch.randn(K * M, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 0.6


def clip(v):
    length = math.sqrt(sum(x.item() ** 2 for x in v))
    return v / v.square().sum().sqrt() if length > 1 else v


def mean(terms):
    """Mean of what is not zero, as in the pair losses."""
    some = [term for term in terms if term.item() > 0]
    return sum(some) / len(some) if some else 0.0


def naive(p, rows, row_labels, columns, column_labels, within):
    """One pair loss in loops; `within`: columns are the rows, and no pair of a sample with itself."""
    pairs = [(i, j) for i in range(len(rows)) for j in range(len(columns)) if not (within and i == j)]
    positive = [(i, j) for i, j in pairs if row_labels[i] == column_labels[j]]
    negative = [(i, j) for i, j in pairs if row_labels[i] != column_labels[j]]

    def apart(i, j):
        return (rows[i] - columns[j]).square().sum().sqrt()

    if p.inner == "contrastive_cosine":
        alike = {(i, j): rows[i] @ columns[j] for i, j in pairs}
        near = [1 - alike[pair] for pair in positive if alike[pair] < 1 - 1e-5]
        far = [alike[pair] for pair in negative if alike[pair] > p.cosine_margin]
        return sum([*near, *far]) / len(rows)
    if p.inner == "contrastive":
        push = mean((p.negative_margin - apart(i, j)).clamp_min(0) ** 2 for i, j in negative)
        return mean(apart(i, j) ** 2 for i, j in positive) + push
    if p.inner == "contrastive_positive_margin":
        push = mean((p.negative_margin - apart(i, j)).clamp_min(0) for i, j in negative)
        return mean((apart(i, j) - p.positive_margin).clamp_min(0) for i, j in positive) + push
    if p.inner == "triplet":
        triplets = [(i, j, k) for i, j in positive for a, k in negative if a == i]
        return mean((apart(i, j) - apart(i, k) + p.triplet_margin).clamp_min(0) for i, j, k in triplets)
    return naive_multi_similarity(p, rows, columns, positive, negative)


def naive_multi_similarity(p, rows, columns, positive, negative):
    """Wang et al. 2019, Eq. 10, 12 and 15, on inner products."""
    total = 0.0
    for i in range(len(rows)):
        near = [rows[i] @ columns[j] for a, j in positive if a == i]
        far = [rows[i] @ columns[j] for a, j in negative if a == i]
        near, far = (
            [s for s in near if far and s.item() < max(far).item() + p.epsilon],
            [s for s in far if near and s.item() > min(near).item() - p.epsilon],
        )
        total = (
            total + sum(torch.exp(-p.alpha * (s - p.base)) for s in [*near, torch.tensor(math.inf)]).log1p() / p.alpha
        )
        total = total + sum(torch.exp(p.beta * (s - p.base)) for s in [*far, torch.tensor(-math.inf)]).log1p() / p.beta
    return total / len(rows)


def reference(loss, z, y, centres, in_batch):
    """Value with the proxies as anchors; multi-similarity and C1 have the samples as anchors."""
    inside, fixed = [clip(v) for v in z], [clip(v) for v in centres]
    classes = [k for k in range(K) for _ in range(M)]
    if loss.params.inner in ("multi_similarity", "contrastive_cosine"):
        value = naive(loss.params, inside, y, fixed, classes, within=False)
    else:
        value = naive(loss.params, fixed, classes, inside, y, within=False)
    return value + in_batch * naive(loss.params, inside, y, inside, y, within=True)


@pytest.mark.parametrize("dataset", ["cub", "cars", "inshop", "sop"])
def test_the_published_multi_similarity_mines_no_pair(dataset, batch, centres):
    """yetigurbuz/ccp-dml framework/losses/multi_similarity_loss.py; default.py: miner = None."""
    z, y = batch
    published = registry.entry("loss", "ccp").facts.defaults[dataset]["inner"]["multi_similarity"]
    loss = loss_of("multi_similarity", **published).double()
    loss.place(centres)
    alike = bounded(z) @ bounded(centres).T
    same = y[:, None] == torch.arange(K).repeat_interleave(M)
    alpha, beta, base = (published[name] for name in ("alpha", "beta", "base"))
    near = ((alpha * (base - alike)).exp() * same).sum(1).log1p() / alpha
    far = ((beta * (alike - base)).exp() * ~same).sum(1).log1p() / beta
    torch.testing.assert_close(loss(z, y), (near + far).mean())


@every_inner
@pytest.mark.parametrize("in_batch", [0.0, 0.1])
def test_value_and_gradients_are_those_of_the_loops(inner, in_batch, batch, centres):
    z, y = batch
    loss = loss_of(inner, in_batch=in_batch).double()
    loss.place(centres)
    here, there = z.clone().requires_grad_(), z.clone().requires_grad_()
    value = loss(here, y)
    found = torch.autograd.grad(value, [here, loss.proxies])
    proxies = centres.clone().requires_grad_()
    wanted = reference(loss, there, y, proxies, in_batch)
    expected = torch.autograd.grad(wanted, [there, proxies])
    torch.testing.assert_close(value, wanted)
    assert value.item() > 0
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1].flatten(0, 1), expected[1])
    here = z.float().requires_grad_()
    single = loss.float()(here, y)
    (slope,) = torch.autograd.grad(single, here)
    torch.testing.assert_close(single.double(), value.detach(), rtol=1e-5, atol=0)
    assert (slope.double() - expected[0]).norm() <= 1e-5 * expected[0].norm()


@every_inner
def test_before_the_proxies_it_is_the_pair_loss_within_the_batch(inner, batch):
    z, y = batch
    loss = loss_of(inner, in_batch=0.0).double()
    inside = [clip(v) for v in z]
    torch.testing.assert_close(loss(z, y), naive(loss.params, inside, y, inside, y, within=True))
    vectors, classes = loss.class_proxies()
    assert vectors.shape == (K * M, D)
    assert not vectors.any()
    assert classes.tolist() == [0] * M + [1] * M + [2] * M + [3] * M


def test_short_vectors_stay_and_long_ones_get_length_one():
    vectors = torch.tensor([[0.0, 0.0], [0.3, 0.4], [0.6, 0.8], [30.0, 40.0]], requires_grad=True)
    torch.testing.assert_close(bounded(vectors), torch.tensor([[0.0, 0.0], [0.3, 0.4], [0.6, 0.8], [0.6, 0.8]]))
    (slope,) = torch.autograd.grad(bounded(vectors).sum(), vectors)
    assert torch.isfinite(slope).all()
    torch.testing.assert_close(slope[:2], torch.ones(2, 2))


@every_inner
def test_a_batch_of_one_class_and_proxies_on_top_of_samples_are_finite(inner):
    loss = loss_of(inner)
    loss.place(torch.eye(5)[0].repeat(K * M, 1))
    z = torch.eye(5)[0].repeat(6, 1).requires_grad_()
    value = loss(z, torch.zeros(6, dtype=torch.int64))
    (slope,) = torch.autograd.grad(value, z)
    assert torch.isfinite(value)
    assert torch.isfinite(slope).all()


@every_inner
def test_a_nan_is_not_hidden_by_the_proxies(inner, centres):
    loss = loss_of(inner)
    loss.place(centres)
    z = torch.randn(6, D, generator=torch.Generator().manual_seed(0))
    z[2, 1] = torch.nan
    assert not torch.isfinite(loss(z, torch.tensor([0, 0, 1, 1, 2, 2])))


@every_inner
def test_training_brings_samples_to_their_proxies(inner):
    loss = loss_of(inner)
    generator = torch.Generator().manual_seed(5)
    loss.place(torch.randn(K * M, D, generator=generator))
    z, y = torch.randn(24, D, generator=generator).requires_grad_(), torch.arange(24) % K
    optimiser = torch.optim.Adam([z, *loss.parameters()], lr=0.05)
    for _ in range(150):
        optimiser.zero_grad()
        loss(z, y).backward()
        optimiser.step()
    vectors, classes = loss.class_proxies()
    nearest = torch.cdist(bounded(z), vectors).argmin(1)
    assert (classes[nearest] == y).float().mean() > 0.9


def test_proxies_are_trained_and_samples_are_not():
    assert [weight.shape for weight in loss_of("contrastive").parameters() if weight.requires_grad] == [(K, M, D)]
    assert not any(weight.requires_grad for weight in loss_of("contrastive", variant="samples").parameters())


def test_samples_are_embedded_in_every_step_and_get_a_gradient(batch, centres):
    z, y = batch
    samples, trained = loss_of("contrastive", variant="samples").double(), loss_of("contrastive").double()
    moving = centres.clone().requires_grad_()
    samples.follow(lambda: moving * 2)
    before = samples(z, y)
    samples.place(centres)
    trained.place(centres * 2)
    assert before != samples(z, y), "without a first choice nothing is followed"
    torch.testing.assert_close(samples(z, y), trained(z, y))
    (slope,) = torch.autograd.grad(samples(z, y), moving)
    assert slope.any()


def test_penalty_is_half_lambda_times_the_squared_distance():
    loss = loss_of("contrastive", penalty=0.5)
    weights = [torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([[3.0]], requires_grad=True)]
    previous = [torch.tensor([0.0, 4.0]), torch.tensor([[5.0]])]
    value = loss.penalty(weights, previous)
    assert value.item() == pytest.approx(0.25 * (1 + 4 + 4))
    value.backward()
    for weight, before in zip(weights, previous, strict=True):
        torch.testing.assert_close(weight.grad, 0.5 * (weight.detach() - before))


def test_a_saved_loss_knows_that_it_has_begun(batch, centres):
    z, y = batch
    loss, other = loss_of("contrastive").double(), loss_of("contrastive").double()
    loss.place(centres)
    file = io.BytesIO()
    torch.save(loss.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert other.begun
    assert torch.equal(loss(z, y), other(z, y))


def test_a_wrong_pair_loss_is_named():
    with pytest.raises(Problem, match="inner"):
        loss_of("ce")
