"""No loss makes the training loop wait for a GPU, or mixes devices."""

import numpy as np
import pytest
import torch

from tests.pretended_gpu import NEEDS_CUDA_BUILD, NoWaits, WaitError, on_pretended_gpu, pretended_gpu
from workbench.losses import build_loss, list_losses
from workbench.losses.batch import labels_in_range
from workbench.losses.shared.pair_lists import keep_on_cpu

N, D, K = 32, 16, 10
STEPS = 2  # RankMI changes the embeddings in its second step alone; memories have something in it

VARIANTS = {  # other ways through the code of a loss
    "ccp of triplets": {"inner": "triplet"},
    "ccp of contrastive": {"inner": "contrastive"},
    "ccp of contrastive_cosine": {"inner": "contrastive_cosine"},
    "ccp of multi_similarity": {"inner": "multi_similarity"},
    "xbm": {"warm_up": 0},
    "xbm of triplets": {"warm_up": 0, "inner": "triplet"},
    "xbm of contrastive_cosine": {"warm_up": 0, "inner": "contrastive_cosine"},
    "xbm of contrastive_positive_margin": {"warm_up": 0, "inner": "contrastive_positive_margin"},
    "xbm of multi_similarity": {"warm_up": 0, "inner": "multi_similarity"},
    "hyperbolic of two": {"negatives": "two_per_class"},
    "hyperbolic on the sphere": {"curvature": 0.0},
    "triplet of all": {"triplets": "all"},
    "psc of means": {"prototypes": "means"},
    "psce without own class": {"without_own_class": True},
}
CASES = {name: {} for name in list_losses()} | VARIANTS


def built(case):
    name = case.split()[0]
    loss = build_loss(name, num_classes=K, embedding_dim=D, **CASES[case]).train()
    if name == "ccp":
        loss.place(torch.randn(8 * K, D))
    return loss


@NEEDS_CUDA_BUILD
@pytest.mark.parametrize("case", CASES)
def test_the_value_of_a_loss_does_not_wait(case):
    loss = built(case)
    with labels_in_range(), pretended_gpu():
        on_pretended_gpu(loss)
        for _ in range(STEPS):
            embeddings = torch.randn(N, D, device="cuda", requires_grad=True)
            labels = keep_on_cpu(torch.empty(N, dtype=torch.int64, device="cuda"), np.arange(N) // 4 % K)
            assert loss(embeddings, labels).device.type == "cuda"


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_a_loss_does_not_wait(case):
    """On the CPU, because autograd knows no pretended GPU."""
    loss, labels = built(case), torch.arange(N) // 4 % K
    with labels_in_range():
        for _ in range(STEPS):
            value = loss(torch.randn(N, D, requires_grad=True), labels)
            with NoWaits("cpu"):
                value.backward()
    assert value.isfinite()


@NEEDS_CUDA_BUILD
@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x.sum().item(),
        lambda x: bool((x > 0).any()),
        lambda x: (x > 0).nonzero(),
        lambda x: x[x > 0],
        lambda x: x.unique(),
        lambda x: x.cpu(),
        lambda x: x + torch.tensor([1.0], device="cuda"),
        lambda x: x[torch.arange(2)],
        lambda x: x.index_put_((x > 0,), x[0, :1]),
        lambda x: torch.multinomial(x, 2),
    ],
)  # fmt: skip
def test_a_wait_is_seen(operation):
    with pretended_gpu(), pytest.raises(WaitError):
        operation(torch.ones(3, 3, device="cuda"))


@NEEDS_CUDA_BUILD
def test_mixed_devices_are_seen():
    with pretended_gpu(), pytest.raises(RuntimeError, match="device"):
        torch.ones(3, device="cuda") + torch.ones(3)
