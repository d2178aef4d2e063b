"""Low-rank adapters: a frozen linear layer plus a trained product of two thin matrices."""

from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.parametrize import register_parametrization

ADAPTED = ("qkv", "q", "k", "v", "q_proj", "k_proj", "v_proj", "proj")  # the linear layers of an attention block


class LoRALinear(nn.Module):
    """x W^T + b + (alpha / r) (x A^T) B^T with W and b frozen; B starts at zero, so the layer starts as it was.

    Source: Hu et al. 2022 (LoRA), Eq. 3; for retrieval Ren et al. 2024 (parameter-efficient metric learning).
    """

    def __init__(self, layer: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(layer.weight.new_empty(rank, layer.in_features))
        self.up = nn.Parameter(layer.weight.new_zeros(layer.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    @property
    def weight(self) -> Tensor:
        """W + (alpha / r) B A [out, in], for attention blocks that read the weights of their layers, such as EVA's."""
        return self.layer.weight + self.scale * self.up @ self.down

    @property
    def bias(self) -> Tensor | None:
        """The frozen layer's own, [out]."""
        return self.layer.bias

    def forward(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = self.layer(inputs) + self.scale * F.linear(F.linear(inputs, self.down), self.up)
        return outputs


class LowRank(nn.Module):
    """W -> W + (alpha / r) B A for a frozen weight W [out, in] of a layer that keeps it as a parameter of its own."""

    def __init__(self, weight: Tensor, rank: int, alpha: float) -> None:
        super().__init__()
        self.scale = alpha / rank
        self.down = nn.Parameter(weight.new_empty(rank, weight.shape[1]))
        self.up = nn.Parameter(weight.new_zeros(weight.shape[0], rank))
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.scale * self.up @ self.down


def add_lora(model: nn.Module, rank: int, alpha: float) -> int:
    """Freeze every weight and put an adapter on each attention layer's linear maps; returns how many there are.

    Raises:
        ValueError: a rank below 1.
    """
    if rank < 1:
        raise ValueError(f"an adapter needs a rank of 1 or more: got {rank}")
    model.requires_grad_(False)
    adapted = [
        (module, name, layer)
        for path, module in model.named_modules()
        if "attn" in path.rpartition(".")[2]
        for name, layer in module.named_children()
        if name in ADAPTED and isinstance(layer, nn.Linear)
    ]
    for module, name, layer in adapted:
        setattr(module, name, LoRALinear(layer, rank, alpha))
    whole = [module for module in model.modules() if isinstance(module, nn.MultiheadAttention)]
    for attention in whole:  # torch's own, which keeps the weights of queries, keys and values in one parameter
        setattr(attention, "out_proj", LoRALinear(attention.out_proj, rank, alpha))  # noqa: B010 - of another type
        if attention.in_proj_weight is not None:
            register_parametrization(
                attention, "in_proj_weight", LowRank(attention.in_proj_weight.detach(), rank, alpha)
            )
    return len(adapted) + 2 * len(whole)
