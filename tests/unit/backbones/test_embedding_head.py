"""The embedding head: the precision that it computes in."""

import pytest
import torch

from workbench.backbones.head import EmbeddingHead
from workbench.config import EmbeddingParams


@pytest.mark.parametrize(
    ("features", "embeddings"),
    [(torch.float64, torch.float64), (torch.float32, torch.float32), (torch.bfloat16, torch.float32)],
)
def test_embeddings_have_at_least_the_precision_of_float32(features, embeddings):
    """A network in float64 is the reference that float32 is measured against."""
    head = EmbeddingHead(6, EmbeddingParams(dim=0, batch_norm=True, normalise=True)).to(
        torch.promote_types(features, torch.float32)
    )
    assert head(torch.randn(5, 6, dtype=features)).dtype is embeddings
