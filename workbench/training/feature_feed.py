"""Batches of features that a frozen backbone has already computed."""

import numpy as np
import torch
from torch import Tensor

from workbench.training.feed import Feed


class FeatureFeed(Feed):
    """Features of some rows instead of their images: batches [n, f], all of them on the device.

    Args:
        features: float32 [n, f] of the whole data set.
        rows: [m] int64, the rows that belong to this half.
        labels: [m] int64.
        device: where batches go.
    """

    def __init__(self, features: np.ndarray, rows: np.ndarray, labels: np.ndarray, device: torch.device) -> None:
        super().__init__(features[:, None, None, :], rows, labels, device)
        self.left_out = None
        self._resident = torch.from_numpy(np.ascontiguousarray(features[rows])).to(device)

    def _scaled(self, batch: Tensor) -> Tensor:
        return batch
