"""Visual prompts: trained tokens beside the patches of a frozen transformer."""

from typing import Any

import torch
from torch import Tensor, nn


class PromptedBlock(nn.Module):
    """A block of a transformer that computes with prompts before its tokens.

    Args:
        block: tokens [b, t, d] -> the same.
        prompts: trained tokens [p, d] that are put first; None if they come from the block before.
        leave: how many of the first tokens are taken off again afterwards.
    """

    def __init__(self, block: nn.Module, prompts: nn.Parameter | None, leave: int) -> None:
        super().__init__()
        self.block, self.prompts, self.leave = block, prompts, leave

    def forward(self, tokens: Tensor, *args: Any, **named: Any) -> Tensor:
        if self.prompts is not None:
            tokens = torch.cat([self.prompts.to(tokens.dtype).expand(tokens.shape[0], -1, -1), tokens], 1)
        computed: Tensor = self.block(tokens, *args, **named)
        return computed[:, self.leave :]


def takes_prompts(model: nn.Module) -> bool:
    """Whether blocks of a timm model take a sequence of any length: ViT, DeiT, DINO, CLIP towers, EVA and DINOv3."""
    from timm.models.eva import Eva
    from timm.models.vision_transformer import VisionTransformer

    relative = any("rel_pos" in name for name, _ in model.named_modules())  # a bias for each pair of places
    return isinstance(model, VisionTransformer | Eva) and not relative


def add_prompts(blocks: nn.ModuleList, width: int, count: int, deep: bool) -> None:
    """Put `count` trained prompts into the blocks of a transformer; other weights are left as they are.

    Args:
        blocks: of a timm model that `takes_prompts`, or of a tower of CLIP: tokens [b, t, width] -> the same.
        deep: prompts of its own for every block; else those of the first block go through all.

    Source: Jia et al. 2022 (visual prompt tuning), Section 3.2; for retrieval Ren et al. 2024, whose code starts them
    as here and has 10 for each of 12 blocks.

    Raises:
        ValueError: `count` is below 1.
    """
    if count < 1:
        raise ValueError(f"a transformer needs at least one prompt: got {count}")
    last = len(blocks) - 1
    for at, block in enumerate(blocks):
        attention: Any = getattr(block, "attn", None)
        if attention is not None and hasattr(attention, "num_prefix_tokens"):
            attention.num_prefix_tokens += count  # which have no place in the image: no rotary embedding
        prompts = nn.init.xavier_normal_(torch.empty(count, width)) if deep or at == 0 else None
        blocks[at] = PromptedBlock(
            block, None if prompts is None else nn.Parameter(prompts), count if deep or at == last else 0
        )
