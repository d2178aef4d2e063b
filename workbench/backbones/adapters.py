"""What trains a large transformer through few weights: adapters on its attention, prompts beside its tokens."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from torch import nn

from workbench.backbones.lora import add_lora
from workbench.backbones.pretrained import trained_file
from workbench.backbones.prompts import add_prompts
from workbench.params import Params, param
from workbench.problem import Problem

Refused = Callable[[str, str], Problem]  # why a model cannot be used as asked, and what to do


class AdapterParams(Params):
    """Parameters of backbones that have transformers: adapters, prompts, memory."""

    lora_rank: int = param(
        0, ge=0, le=1024, symbol="r", label="LoRA rank",
        help="Above 0 the network is frozen and adapters of this rank on its attention layers are trained.",
    )  # fmt: skip
    lora_alpha: float = param(
        16.0, gt=0, le=1024, symbol="α", label="LoRA scale", help="The adapters' output is multiplied by α / r."
    )
    prompts: int = param(
        0, ge=0, le=1000, label="Visual prompts", unit="tokens",
        help="Above 0 the network is frozen, and this many tokens beside the patches are trained; 10: Ren et al. 2024.",
    )  # fmt: skip
    prompt_depth: Literal["deep", "shallow"] = param(
        "deep", help="deep: every block has its own prompts; shallow: those of the first block pass through all."
    )
    trained_file: str = trained_file()
    gradient_checkpointing: bool = param(
        False, label="Gradient checkpointing", help="Compute activations twice instead of keeping them: less memory."
    )


@dataclass(frozen=True, slots=True)
class Tokens:
    """The blocks [tokens [b, t, d] -> the same] of a transformer that takes any number of tokens, and d."""

    blocks: nn.ModuleList
    width: int


def adapt(
    model: nn.Module, tokens: Tokens | None, params: AdapterParams, refused: Refused,
    freeze: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Freeze the model where adapters or prompts are asked for, and add those.

    Args:
        model: all of the network that is trained otherwise.
        tokens: None where the model is no transformer that takes prompts.
        freeze: freezes more, adapters too; called before the prompts are there.

    Raises:
        Problem: the model has no attention, or takes no prompts.
    """
    if params.prompts:
        if tokens is None:
            raise refused("has no sequence of tokens for prompts", "Set the prompts to 0, or use a ViT, DINO or EVA.")
        model.requires_grad_(False)
    if params.lora_rank and not add_lora(model, params.lora_rank, params.lora_alpha):
        raise refused("has no attention layers for adapters", "Set the LoRA rank to 0, or use a transformer.")
    freeze()
    if params.prompts and tokens is not None:
        add_prompts(tokens.blocks, tokens.width, params.prompts, params.prompt_depth == "deep")


def layers_by_depth(
    backbone: nn.Module, blocks: Iterable[nn.Module], before: Iterable[nn.Parameter]
) -> list[list[nn.Parameter]]:
    """All parameters of a backbone, each once: those of `before` that are in no block, each block's, the rest."""
    layers = [list(block.parameters()) for block in blocks]
    inside = {id(weight) for layer in layers for weight in layer}
    first = {id(weight) for weight in before} - inside
    outside = [weight for weight in backbone.parameters() if id(weight) not in inside]
    begins = [weight for weight in outside if id(weight) in first]
    return [begins, *layers, [weight for weight in outside if id(weight) not in first]]
