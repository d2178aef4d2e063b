"""Which parts of two images make them similar: cover each part in turn and embed the image again."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from workbench.datasets.pictures import Pictures
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.running.search.image_search import BEST, Epoch, OwnImage, kept_network, similarities
from workbench.workspace import Workspace

SHARE = 4  # a window has one of this many parts of the image's short side
PLACES = 7  # of the window along each side: neighbouring windows overlap by half or a little less
AT_ONCE = 7  # covered images that are embedded together: between two batches the work can be cancelled
GONE = "This image is no longer in the data set."
Similar = Callable[[np.ndarray], np.ndarray]  # images [n, C, H, W] in 0..1 -> similarities [n]
Tell = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Saliency:
    """One of the two images."""

    picture: np.ndarray  # uint8 [H, W, 3]: what the network was given
    heat: np.ndarray  # float64 [H, W]: by how much the similarity falls, on average, where a window covers the pixel


@dataclass(frozen=True, slots=True, eq=False)
class PairSaliency:
    """Two images, and what in each makes them similar."""

    similarity: float  # of the images as they are
    distance: str  # of the evaluation: the similarity is the cosine, or minus the distance
    epoch: int  # of the network
    query: Saliency
    neighbour: Saliency

    @property
    def largest(self) -> float:
        """The largest absolute value of both maps."""
        return float(max(np.abs(part.heat).max() for part in (self.query, self.neighbour)))


def pair_saliency(
    workspace: Workspace, run_id: int, evaluation_id: int | None, query: OwnImage | int, neighbour: int,
    progress: Progress = quiet, epoch: Epoch = BEST,
) -> PairSaliency:  # fmt: skip
    """How much each part of a query, and of a neighbour, adds to their similarity in an evaluation.

    A window of a quarter of the short side is moved over an image in 7 x 7 places and filled with the image's median
    colour. At each place the image is embedded again and compared with the other one, which is left as it is. The value
    of a pixel is the mean fall of the similarity over the windows that cover it: positive where the part makes the
    images similar, negative where it makes them different. Similarity-based saliency maps (Dong et al., 2019) are
    made in this way, but without the negative part; the windows are those of Zeiler and Fergus (2014).

    Args:
        evaluation_id: of the network; None: that of `epoch`.
        query: an own image, or the id of a sample of the run's data set.
        neighbour: the id of a sample.
        epoch: best, last, or the number of an epoch.

    Raises:
        Problem: the network of the evaluation is not here (see `image_search.search`); an image cannot be read.
        Cancelled: by `progress`.
    """
    total = 2 * PLACES**2
    progress("Loading the network", 0, total)
    network, evaluation = kept_network(workspace, run_id, epoch, evaluation_id)
    pictures = workspace.pictures(network.dataset.id)
    sources = [query.source if isinstance(query, OwnImage) else _stored(pictures, query), _stored(pictures, neighbour)]
    inputs = [network.inputs([source])[0] for source in sources]
    whole = [network.embed_inputs(image[None])[0] for image in inputs]
    parts = []
    for number, (image, other) in enumerate(zip(inputs, reversed(whole), strict=True)):

        def similar(batch: np.ndarray, other: np.ndarray = other) -> np.ndarray:
            return similarities(other, network.embed_inputs(batch), evaluation.distance)

        def tell(done: int, before: int = number * PLACES**2) -> None:
            progress("Covering parts of the images", before + done, total)

        parts.append(Saliency(_shown(image), heat_of(image, similar, tell)))
    similarity = float(similarities(whole[0], whole[1][None], evaluation.distance)[0])
    return PairSaliency(similarity, evaluation.distance, evaluation.epoch, *parts)


def heat_of(image: np.ndarray, similar: Similar, tell: Tell = lambda done: None) -> np.ndarray:
    """The mean fall of a similarity over the windows that cover each pixel, float64 [H, W].

    Args:
        image: [C, H, W] in 0..1.
        similar: images [n, C, H, W] -> their similarities [n] to something.
        tell: called with the number of windows that are done, after each batch.
    """
    height, width = image.shape[1:]
    windows = windows_of(height, width)
    colour = np.median(image, axis=(1, 2))
    before = float(similar(image[None])[0])
    sums, counts = np.zeros((height, width)), np.zeros((height, width))
    for start in range(0, len(windows), AT_ONCE):
        tell(start)
        some = windows[start : start + AT_ONCE]
        covered = np.repeat(image[None], len(some), axis=0)
        for one, (rows, columns) in zip(covered, some, strict=True):
            one[:, rows, columns] = colour[:, None, None]
        for (rows, columns), after in zip(some, similar(covered), strict=True):
            sums[rows, columns] += before - float(after)
            counts[rows, columns] += 1
    tell(len(windows))
    return sums / counts


def windows_of(height: int, width: int) -> list[tuple[slice, slice]]:
    """The places of the window, rows and columns of each; together they cover every pixel."""
    side = max(1, -(-min(height, width) // SHARE))
    starts = [_starts(length, side) for length in (height, width)]
    return [(slice(top, top + side), slice(left, left + side)) for top, left in product(*starts)]


def _starts(length: int, side: int) -> list[int]:
    places = max(PLACES, -(-length // side))  # of an image that is much longer than wide, more
    return sorted({round(start) for start in np.linspace(0, length - side, places)})


def _stored(pictures: Pictures, sample_id: int) -> Path | np.ndarray:
    """The file of a sample, or its pixels where it has none."""
    try:
        path = pictures.path(sample_id)
        return path if path is not None and path.is_file() else pictures.thumbnail(sample_id)
    except KeyError:
        raise Problem(GONE) from None


def _shown(image: np.ndarray) -> np.ndarray:
    """An image [C, H, W] in 0..1 as uint8 [H, W, 3]."""
    pixels = np.rint(np.clip(image, 0, 1) * 255).astype(np.uint8).transpose(1, 2, 0)
    return np.ascontiguousarray(np.broadcast_to(pixels, (*pixels.shape[:2], 3)))
