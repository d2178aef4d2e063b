"""Values that papers give for a loss on a data set, and values measured here: shared parts and their sources.

In `defaults` and `measured`, a name without a dot is a parameter of the loss; a dotted name is another field of the
run. The form sets the former by itself and offers the latter. A learning rate of the loss that a paper couples with
that of the network is dotted, too ("loss.proxy_lr"). If the value of a name is a dictionary, other values depend on
this parameter: {"inner": {"triplet": {"triplet_margin": 0.1}}} sets the margin for triplets only; the first key is the
paper's choice.
"""

from typing import Any

Values = dict[str, Any]
ByData = dict[str, Values]

UNNAMED = "The reproduced papers have no values for a data set"
CE_PAPER = "Boudiaf et al. 2020, Section 6.3"
CCP_PAPER = "Gürbüz et al. 2023 (CCP), supplement Section 2.1"
PSCE_PAPER = "Bytyqi et al. 2023 (PSCE), Section 5.1 and Table 1"
OF_CCP = ("cub", "cars", "inshop", "sop")  # the data sets of CCP's supplement

C2_MARGINS = {  # of positives and of negatives; CCP's supplement, Section 2.1
    "cub": (0.0, 0.3841), "cars": (0.2652, 0.5409), "inshop": (0.2858, 0.5130), "sop": (0.2858, 0.5130),
}  # fmt: skip

CCP_TRAINING: Values = {
    "training.optimiser": "adam", "training.lr": 1e-5, "training.weight_decay": 1e-4,
    "training.beta2": 0.99, "training.batch_size": 32, "embedding.dim": 128, "embedding.bounded": True,
    "evaluation.distance": "l2",
}  # fmt: skip
CCP_PAIRS = CCP_TRAINING | {"sampler.name": "classes_images", "sampler.images_per_class": 4}
CCP_PROXIES = CCP_TRAINING | {
    "loss.proxy_lr": 100.0, "training.head_epochs": 1,
    "sampler.name": "classes_images", "sampler.images_per_class": 1,
}  # fmt: skip
TSC_CODE: Values = {"temperature": 0.07}  # Bytyqi et al. 2023 (PSCE) quote its results, and those of KCL, in Table 4
TSC_SOURCE = "Li et al. 2022 (TSC), LTH14/targeted-supcon cifar_dirty/main_supcon_imba.py: --temp 0.07, also of KCL"
TWO_VIEWS: Values = {"training.batch_size": 32, "training.views": 2, "training.epochs": 300}

# CE makes even a slow backbone forget what it learned on ImageNet (docs/results.md), so only the head is trained.
HEAD_ONLY: Values = {"proxy_lr": 10.0, "training.lr": 1e-3, "training.backbone_lr": 0.0}


def in_ccp(by_data: ByData, beside: Values) -> ByData:
    """The supplement's parameters of a loss by data set, together with the settings that losses of that kind share."""
    return {dataset: by_data.get(dataset, {}) | beside for dataset in OF_CCP}


def measured_on(values: Values, *data: str) -> ByData:
    """The same values for several data sets of `workbench benchmark methods`, in the order of docs/results.md."""
    return {name: dict(values) for name in data}
