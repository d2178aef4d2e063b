"""Optimiser and schedule from the config: weight decay where it belongs, proxies at their own rate."""

import math

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from workbench.config import TrainingParams
from workbench.losses.contract import Loss


def build_optimiser(params: TrainingParams, model: nn.Module, loss: Loss) -> Optimizer:
    """The optimiser over the model and the loss's own parameters (proxies, classifier).

    The learning rate of `model.backbone` is multiplied by `params.backbone_lr`, that of the loss's parameters by
    `loss.proxy_lr_multiplier`. A multiple of 0 freezes: no gradient is computed for it.
    With `decay_matrices_only`, parameters of one dimension (biases, batch-norm) are not decayed.
    """
    pretrained = getattr(model, "backbone", None)
    backbone = list(pretrained.parameters()) if isinstance(pretrained, nn.Module) and params.backbone_lr != 1 else []
    if params.backbone_lr == 0:
        for weight in backbone:
            weight.requires_grad_(False)
    apart = {id(weight) for weight in backbone}
    others = [weight for weight in model.parameters() if id(weight) not in apart]
    groups = []
    own = list(loss.parameters())
    for weights, times in ((backbone, params.backbone_lr), (others, 1.0), (own, loss.proxy_lr_multiplier)):
        trained, lr = [weight for weight in weights if weight.requires_grad], params.lr * times
        flat = [weight for weight in trained if weight.ndim <= 1 and params.decay_matrices_only]
        deep = [weight for weight in trained if weight.ndim > 1 or not params.decay_matrices_only]
        groups.append({"params": deep, "lr": lr, "weight_decay": params.weight_decay})
        groups.append({"params": flat, "lr": lr, "weight_decay": 0.0})
    groups = [group for group in groups if group["params"]]
    match params.optimiser:
        case "sgd":
            return torch.optim.SGD(groups, lr=params.lr, momentum=params.momentum, nesterov=params.nesterov)
        case "adam":
            return torch.optim.Adam(groups, lr=params.lr)
        case "adamw":
            return torch.optim.AdamW(groups, lr=params.lr)


def build_schedule(params: TrainingParams, optimiser: Optimizer, total_steps: int) -> LambdaLR:
    """Linear warm-up, then constant or cosine to zero at `total_steps`; stepped once per optimiser step."""

    def factor(step: int) -> float:
        if step < params.warmup_steps:
            return (step + 1) / params.warmup_steps
        if params.schedule == "constant":
            return 1.0
        whole = max(1, total_steps - params.warmup_steps)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - params.warmup_steps) / whole)))

    return LambdaLR(optimiser, factor)
