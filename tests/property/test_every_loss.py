"""What every registered loss must obey. A new file in workbench/losses is tested here by existing."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import registry
from workbench.losses import build_loss, list_losses

registry.discover("workbench.losses")
every_loss = pytest.mark.parametrize("name", list_losses())
K = 4
FEWER = {"soft_triple": {"centres": 2}}  # ten centres for six images of a class leave each image its own


def built(name, dim, seed=0, dtype=torch.float32):
    torch.manual_seed(seed)
    loss = build_loss(name, num_classes=K, embedding_dim=dim).to(dtype)
    return loss.eval()  # dropout of CE is random by design


@st.composite
def labelled_embeddings(draw):
    """Batches of 2..24 embeddings in 1..8 dimensions, some of huge or tiny length, labels in 0..3."""
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 8))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    scale = draw(st.sampled_from([1e-3, 1.0, 1e3]))
    return torch.randn(n, d, generator=generator) * scale, torch.randint(0, K, (n,), generator=generator)


@every_loss
@settings(max_examples=15, deadline=None)
@given(batch=labelled_embeddings(), seed=st.integers(0, 1000))
def test_value_and_gradient_are_finite_and_order_does_not_matter(name, batch, seed):
    embeddings, labels = batch
    loss = built(name, embeddings.shape[1], seed)
    embeddings.requires_grad_()
    value = loss(embeddings, labels)
    (gradient,) = torch.autograd.grad(value, embeddings)
    assert value.ndim == 0
    assert torch.isfinite(value)
    assert torch.isfinite(gradient).all()

    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(loss(embeddings[order], labels[order]), value, rtol=1e-3, atol=1e-4)


@every_loss
@pytest.mark.parametrize(
    "embeddings",
    [torch.zeros(6, 3), torch.ones(6, 3), torch.eye(6, 3)],
    ids=["zero vectors", "all equal", "one-hot and zero"],
)
@pytest.mark.parametrize("labels", [[0] * 6, [0, 1, 2, 3, 0, 1], [0, 1, 2, 3, 3, 3]], ids=["one class", "few", "many"])
def test_degenerate_batches_have_finite_values_and_gradients(name, embeddings, labels):
    embeddings = embeddings.clone().requires_grad_()
    value = built(name, 3)(embeddings, torch.tensor(labels))
    (gradient,) = torch.autograd.grad(value, embeddings)
    assert torch.isfinite(value)
    assert torch.isfinite(gradient).all()


@every_loss
@pytest.mark.parametrize(
    ("embeddings", "labels", "says"),
    [
        (torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64), "at least one"),
        (torch.zeros(4, 3), torch.zeros(3, dtype=torch.int64), "one label per embedding"),
        (torch.zeros(4, 3), torch.tensor([0, 1, 2, 4]), "0..3"),
        (torch.zeros(4, 3), torch.tensor([0, 1, 2, -1]), "0..3"),
        (torch.zeros(4, 3), torch.zeros(4), "whole numbers"),
        (torch.zeros(4, 3, 1), torch.zeros(4, dtype=torch.int64), r"\[n, d\]"),
    ],
)
def test_a_wrong_batch_is_a_sentence(name, embeddings, labels, says):
    with pytest.raises(ValueError, match=says):
        built(name, 3)(embeddings, labels)


@every_loss
def test_a_nan_is_never_hidden(name):
    embeddings = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    embeddings[2, 1] = torch.nan
    assert not torch.isfinite(built(name, 3)(embeddings, torch.tensor([0, 0, 1, 1, 2, 2])))


@every_loss
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_under_autocast_is_computed_in_float32(name, dtype):
    generator = torch.Generator().manual_seed(0)
    embeddings, labels = torch.randn(12, 5, generator=generator).to(dtype), torch.arange(12) % K
    loss = built(name, 5)
    with torch.autocast("cpu", torch.bfloat16):
        value = loss(embeddings, labels)
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, loss(embeddings.float(), labels))


@every_loss
def test_training_with_it_brings_classes_together(name):
    """Sixty steps on free embeddings: classes part, or at least every nearest neighbour becomes one of its class."""
    generator = torch.Generator().manual_seed(3)
    embeddings = torch.randn(24, 6, generator=generator).requires_grad_()
    labels = torch.arange(24) % K
    torch.manual_seed(0)
    loss = build_loss(name, num_classes=K, embedding_dim=6, **FEWER.get(name, {})).eval()
    optimiser = torch.optim.Adam([embeddings, *loss.parameters()], lr=0.1)
    before = separation(embeddings, labels)
    assert recall_at_1(embeddings, labels) < 0.5
    for _ in range(60):
        optimiser.zero_grad()
        loss(embeddings, labels).backward()
        optimiser.step()
    assert separation(embeddings, labels) > before + 0.3 or recall_at_1(embeddings, labels) == 1


@every_loss
def test_a_loss_goes_on_from_its_state_as_if_nothing_had_happened(name):
    """Memories, targets and alternations are part of the checkpoint: the next five values are the same bit for bit."""
    generator = torch.Generator().manual_seed(5)
    batches = [(torch.randn(24, 6, generator=generator), torch.arange(24) % K) for _ in range(10)]
    straight = built(name, 6).train()

    def values(loss, some):
        found = []
        for number, (embeddings, labels) in enumerate(some):
            torch.manual_seed(number)
            found.append(loss(embeddings.requires_grad_(), labels).item())
        return found

    assert all(value == value for value in values(straight, batches[:5]))
    resumed = built(name, 6, seed=9).train()
    resumed.load_state_dict(straight.state_dict())
    assert values(resumed, batches[5:]) == values(straight, batches[5:])


def separation(embeddings, labels):
    unit = torch.nn.functional.normalize(embeddings.detach())
    cosines, same = unit @ unit.T, labels[:, None] == labels[None, :]
    return (cosines[same].mean() - cosines[~same].mean()).item()


def recall_at_1(embeddings, labels):
    unit = torch.nn.functional.normalize(embeddings.detach())
    nearest = (unit @ unit.T - 9 * torch.eye(len(unit))).argmax(1)
    return (labels[nearest] == labels).float().mean().item()


@every_loss
def test_proxies_have_a_class_each(name):
    loss = built(name, 6)
    proxies = loss.class_proxies()
    if proxies is None:
        return
    vectors, labels = proxies
    assert vectors.shape == (len(labels), 6)
    assert set(labels.tolist()) == set(range(K))
