"""Write resources/offered/timm_models.csv: what the form says of each model of timm while its name is typed.

    python packaging/timm_table.py

Every model of the installed timm that gives pooled features, once without weights and once for each of its pretrained
weights: parameters without the classifier, side of the images in px, features after the model's own pooling,
licence of the weights as timm states it. Models are made on the meta device, which takes no memory; about ten minutes.
"""

import csv
import logging
import warnings
from pathlib import Path

import timm
import torch

from workbench.backbones.timm_models import SHORT_LIST

OUT = Path(__file__).parents[1] / "resources" / "offered" / "timm_models.csv"
COLUMNS = ("model", "parameters", "image_px", "features", "licence")


def described(name: str) -> tuple[int, int] | None:
    """Parameters and features of an architecture; None if it gives no pooled features."""
    with torch.device("meta"):
        model = timm.create_model(name, num_classes=0, pretrained=False)
    if not all(hasattr(model, attribute) for attribute in ("forward_features", "forward_head", "head_hidden_size")):
        print(f"{name} is left out: no pooled features")
        return None
    return sum(weight.numel() for weight in model.parameters()), int(model.head_hidden_size)


def side_of(settings: timm.models.PretrainedCfg) -> str:
    """ "224", or "height x width" of images that are not square."""
    _, height, width = settings.input_size
    return str(height) if height == width else f"{height}x{width}"


def rows() -> list[tuple[str, int, str, int, str]]:
    """The rows of the table: the short list first, then by name."""
    found = []
    weights = timm.list_models(pretrained=True)
    for name in timm.list_models():
        facts = described(name)
        if facts is None:
            continue
        for model in (name, *(tagged for tagged in weights if tagged.partition(".")[0] == name)):
            settings = timm.get_pretrained_cfg(model)
            licence = (settings.license or "not stated") if "." in model else ""
            found.append((model, facts[0], side_of(settings), facts[1], licence))
    first = {model: place for place, model in enumerate(SHORT_LIST)}
    return sorted(found, key=lambda row: (first.get(row[0], len(first)), row[0]))


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(rows())
    print(f"{OUT.name} of timm {timm.__version__}")


if __name__ == "__main__":
    main()
