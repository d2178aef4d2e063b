"""The loss "loss_name" on a small batch: a finite value, a gradient for every parameter, and it learns."""

from pathlib import Path

import torch

from workbench import registry
from workbench.losses import build_loss
from workbench.plugins import load_file

load_file(Path(__file__).with_name("loss_name.py"))


def test_the_entry_describes_itself():
    assert registry.complaints(registry.entry("loss", "loss_name")) == []


def test_a_few_steps_make_it_smaller():
    torch.manual_seed(0)
    loss = build_loss("loss_name", num_classes=3, embedding_dim=8)
    embeddings, labels = torch.randn(12, 8, requires_grad=True), torch.arange(12) % 3
    optimiser = torch.optim.Adam([embeddings, *loss.parameters()], lr=0.05)
    values = []
    for _ in range(30):
        optimiser.zero_grad()
        value = loss(embeddings, labels)
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert all(weight.grad is not None for weight in loss.parameters())
    assert values[-1] < values[0]
