"""Optimiser and schedule from the config: weight decay where it belongs, proxies at their own rate."""

import math
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from workbench.config import TrainingParams
from workbench.losses.contract import Loss
from workbench.problem import Problem


def build_optimiser(params: TrainingParams, model: nn.Module, loss: Loss) -> Optimizer:
    """The optimiser over the model and the loss's own parameters (proxies, classifier).

    The learning rate of `model.backbone` is multiplied by `params.backbone_lr`, that of the loss's parameters by
    `loss.proxy_lr_multiplier`. A multiple of 0 freezes: no gradient is computed for it.
    With a `layer_decay` below 1 each of `backbone.layer_groups()` has that times the rate of the next; the last keeps
    the backbone's (layer-wise decay of Clark et al. 2020, ELECTRA). With `decay_matrices_only`, parameters of one
    dimension (biases, batch-norm) are not decayed.

    Raises:
        Problem: a `layer_decay` below 1 for a backbone without a list of layers, or nothing can be trained.
    """
    pretrained = getattr(model, "backbone", None)
    apart = isinstance(pretrained, nn.Module) and (params.backbone_lr != 1 or params.layer_decay != 1)
    layers = _layers(pretrained, params) if isinstance(pretrained, nn.Module) and apart else []
    backbone = [weight for layer in layers for weight in layer]
    if params.backbone_lr == 0:
        for weight in backbone:
            weight.requires_grad_(False)
    slower = {id(weight) for weight in backbone}
    others = [weight for weight in model.parameters() if id(weight) not in slower]
    rates = [params.backbone_lr * params.layer_decay ** (len(layers) - 1 - depth) for depth in range(len(layers))]
    parts = [*zip(layers, rates, strict=True), (others, 1.0), (list(loss.parameters()), loss.proxy_lr_multiplier)]
    groups = []
    for weights, times in parts:
        trained, lr = [weight for weight in weights if weight.requires_grad], params.lr * times
        flat = [weight for weight in trained if weight.ndim <= 1 and params.decay_matrices_only]
        deep = [weight for weight in trained if weight.ndim > 1 or not params.decay_matrices_only]
        groups.append({"params": deep, "lr": lr, "weight_decay": params.weight_decay})
        groups.append({"params": flat, "lr": lr, "weight_decay": 0.0})
    groups = [group for group in groups if group["params"]]
    if not groups:
        raise Problem(
            "There is nothing to train: the backbone is frozen, there is no embedding layer, and the loss has no "
            "parameters.",
            kept="Nothing was started.",
            todo="Set an embedding size, or train the backbone.",
        )
    match params.optimiser:
        case "sgd":
            return torch.optim.SGD(groups, lr=params.lr, momentum=params.momentum, nesterov=params.nesterov)
        case "adam":
            return torch.optim.Adam(groups, lr=params.lr, betas=(0.9, params.beta2), eps=params.epsilon)
        case "adamw":
            return torch.optim.AdamW(groups, lr=params.lr, betas=(0.9, params.beta2), eps=params.epsilon)


def clip_with_decay(optimiser: Optimizer, most: float) -> None:
    """Change the gradients so that with the weight decay, which the optimiser adds to them, their norm is at most this.

    Only for optimisers that add it to the gradient: SGD and Adam.
    """
    groups = []
    for group in optimiser.param_groups:
        weights = [weight for weight in group["params"] if weight.grad is not None]
        if weights:
            groups.append((weights, [weight.grad for weight in weights], float(group["weight_decay"])))
    with torch.no_grad():  # lists of tensors: one by one each would be a launch on a GPU
        whole = [torch._foreach_add(gradients, weights, alpha=decay) for weights, gradients, decay in groups]
        norm = nn.utils.get_total_norm([gradient for part in whole for gradient in part])
        share = (most / (norm + 1e-6)).clamp(max=1)
        for weights, gradients, decay in groups:
            torch._foreach_mul_(gradients, share)
            torch._foreach_add_(gradients, torch._foreach_mul(weights, decay * (share - 1)))


def _layers(backbone: Any, params: TrainingParams) -> list[list[nn.Parameter]]:
    """The backbone's parameters, by layer where the rates of layers differ."""
    if params.layer_decay == 1:
        return [list(backbone.parameters())]
    if not hasattr(backbone, "layer_groups"):
        raise Problem(
            "This backbone has no list of layers, so its layers cannot learn at different rates.",
            kept="Nothing was started.",
            todo="Set the layer-wise decay to 1, or use a transformer.",
        )
    groups: list[list[nn.Parameter]] = backbone.layer_groups()
    return groups


def build_schedule(params: TrainingParams, optimiser: Optimizer, total_steps: int) -> LambdaLR:
    """Linear warm-up, then constant or cosine to `final_lr` at `total_steps`; stepped once per optimiser step.

    `cosine_throughout` is the smaller of the warm-up and a cosine that begins with it: the schedule of Boudiaf et al.
    """
    before = 0 if params.schedule == "cosine_throughout" else params.warmup_steps  # steps before the cosine

    def factor(step: int) -> float:
        warm = (step + 1) / params.warmup_steps if step < params.warmup_steps else 1.0
        if params.schedule == "constant" or step < before:
            return warm
        whole = max(1, total_steps - before)
        wave = 0.5 * (1 + math.cos(math.pi * min(1.0, (step - before) / whole)))
        return min(warm, params.final_lr + (1 - params.final_lr) * wave)

    return LambdaLR(optimiser, factor)
