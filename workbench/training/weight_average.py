"""The average of a model's weights over the steps."""

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class WeightAverage(AveragedModel):
    """torch's exponential average of weights and buffers, without a copy of its count to the GPU in every step.

    Args:
        model: a copy of it holds the average, from the first step on.
        decay: weight of the average so far, 0 to 1.
    """

    n_averaged: Tensor

    def __init__(self, model: nn.Module, decay: float) -> None:
        super().__init__(model, use_buffers=True)
        self._average = get_ema_multi_avg_fn(decay)

    @torch.no_grad()
    def update_parameters(self, model: nn.Module) -> None:
        """Move the average towards the model's weights; the first call copies them."""
        averages = [*self.module.parameters(), *self.module.buffers()]
        weights = [*model.parameters(), *model.buffers()]
        if not self.n_averaged:  # it stays on the CPU
            torch._foreach_copy_(averages, weights)
        else:
            for dtype in dict.fromkeys(weight.dtype for weight in weights):
                pairs = [pair for pair in zip(averages, weights, strict=True) if pair[1].dtype == dtype]
                self._average([pair[0] for pair in pairs], [pair[1] for pair in pairs], self.n_averaged)
        self.n_averaged += 1
