"""Whether images are cut for a pretrained network as they were when its weights were evaluated."""

from typing import Any

import torch  # noqa: TID253 - only running/preflight.py imports this file, inside a function

from workbench.numerals import percentage
from workbench.running.engine import Engine

ALIKE = 0.01  # difference of two shares of an image's side that is not worth a word


def input_notes(engine: Engine) -> list[tuple[str, str]]:
    """(subject, remark) if the weights that were loaded expect another centre crop than evaluation takes.

    What they expect is the backbone's `pretrained_input`: the side in px, and the crop's share of the image's side.
    """
    backbone: Any = engine.parts.model.backbone
    expected, augmentation = getattr(backbone, "pretrained_input", None), engine.augmentation
    if expected is None or getattr(augmentation, "whole_evaluation", False):  # the whole image is squeezed: no crop
        return []
    side, share = expected
    size = engine.data.images.image_size  # of what the feed gives, unless it gives features
    taken = augmentation.evaluate(torch.empty(1, 1, size, size)).shape[-1]
    if taken == side and abs(taken / size - share) <= ALIKE:
        return []
    whole = round(side / share)
    same = f"Image size {whole} and Crop {share:g}" if whole != side else f"Image size {side} and no crop"
    said = f"were evaluated on a centre crop of {percentage(share)} at {side} px; here it is {percentage(taken / size)}"
    return [("the pretrained weights", f"{said} at {taken} px. {same} give the same")]
