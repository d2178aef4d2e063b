"""One image unchanged and at each strength of a change: what a person looks at. Without torch, for a thread."""

from collections.abc import Sequence

import numpy as np

from workbench.datasets.images.loader import square
from workbench.problem import Problem
from workbench.robustness.changing import changed
from workbench.robustness.kinds import change_named
from workbench.workspace import Workspace

GONE = "This image is no longer in the data set."
OTHER_STRENGTHS = "This was measured with other strengths than those of this Workbench, which has no pictures of them."


def strip(
    workspace: Workspace, dataset_id: int, sample_id: int, name: str, side: int, strengths: Sequence[float]
) -> list[np.ndarray]:
    """An image as it is, and changed with each strength, uint8 [S, S, 3], S px as the data set has it.

    Args:
        name: of the change.
        side: px of the network's input: lengths in pixels are scaled by it, as they were measured.
        strengths: that were measured.

    Raises:
        Problem: the image cannot be read, or the change was measured with other strengths.
        UnknownName: there is no such change.
    """
    change, data = change_named(name), workspace.dataset(dataset_id)
    if tuple(strengths) != change.strengths:
        raise Problem(OTHER_STRENGTHS)
    try:
        pixels = workspace.pictures(dataset_id).thumbnail(sample_id)
    except KeyError:
        raise Problem(GONE) from None
    whole = square(pixels, data.image_size, data.channels)
    images = [whole, *(changed(whole, change, level, side, sample_id) for level in range(len(change.strengths)))]
    return [np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3))) for image in images]
