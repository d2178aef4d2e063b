"""Exports only what a run trained, such as prompts, adapters and the head, without the frozen network."""

from pathlib import Path

from workbench.config import RunConfig
from workbench.exchange.exported.written import written_file
from workbench.exchange.source import Source
from workbench.progress import Progress
from workbench.running import trained_network

NAME = "trained.safetensors"


def write(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`trained.safetensors` in `out`: the trained weights of the best checkpoint, and every buffer, by their names.

    Raises:
        Problem: no checkpoint, or one that does not fit the run's config.
    """
    from safetensors.torch import save

    progress("Loading the checkpoint", 0, 0)
    model = trained_network.trained(source.workspace, source.run.id).model
    if RunConfig.recorded(source.run.config).training.backbone_lr == 0:
        model.backbone.requires_grad_(False)
    frozen = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    state = {name: value.contiguous() for name, value in model.state_dict().items() if name not in frozen}
    path = out / NAME
    with written_file(source, path) as file:
        file.write(save(state))
    return [path]
