"""Features of a frozen backbone, computed once for all images of a data set and kept in the cache."""

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch  # noqa: TID253 - only the engine imports this file

from workbench import files
from workbench.backbones.model import EmbeddingModel
from workbench.config import RunConfig
from workbench.files.unreadable import NO_ARRAY
from workbench.running.building import Data, build_feed
from workbench.training.feed_contract import Augmentation
from workbench.training.probe import embed


def kept_features(
    config: RunConfig, data: Data, model: EmbeddingModel, augmentation: Augmentation, cache: Path,
    before: Callable[[int, int], object],
) -> np.ndarray:  # fmt: skip
    """Features float32 [n, f] of every image, prepared as in evaluation, by the backbone in evaluation mode.

    Args:
        model: on its device; its backbone is frozen.
        cache: folder of such features, created if missing. Other weights or other images have other files.
        before: called before each batch, with how many images of how many are done; may raise Cancelled.

    Raises:
        OSError: the features cannot be written.
    """
    path = cache / f"{_key(config, data, model)}.npy"
    count = len(data.images.paths)
    try:
        stored: np.ndarray = np.load(path, allow_pickle=False)
        if len(stored) == count:
            return stored
    except (OSError, *NO_ARRAY):
        pass
    device = model.mean.device
    feed = build_feed(data, np.arange(count), data.images.labels, augmentation, device)
    features = embed(model, feed, augmentation, by=model.features, before=before).cpu().numpy()
    cache.mkdir(parents=True, exist_ok=True)
    with files.atomic_write(path) as file:
        np.save(file, features)
    return features


def _key(config: RunConfig, data: Data, model: EmbeddingModel) -> str:
    """What the features depend on: the cached images, the backbone and its weights."""
    whole = blake2b(digest_size=16)
    whole.update(f"{data.cache.name}\0{data.images.fingerprint}\0{config.backbone.model_dump()}".encode())
    for name, weight in model.backbone.state_dict().items():
        whole.update(name.encode())
        whole.update(weight.detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes())
    return whole.hexdigest()
