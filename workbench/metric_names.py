"""Metrics and scalars of training as they are shown, in words and with the unit of what is stored."""

METHODS = {  # of Anatomy
    "ce": "CE", "spce": "SPCE", "pce": "PCE", "center": "Center", "contrastive": "Contrastive", "snca": "SNCA",
    "ms": "MS",
}  # fmt: skip
TITLES = {  # of those that are not shown by the name that configs and files have
    "batch/loss": "Loss of each batch",
    "batch/lr": "Learning rate",
    "batch/gradient_norm": "Norm of the gradient, before clipping",
    "batch/feed_wait": "Wait for data, s",
    "probe/ce": "CE on the probe",
    "probe/spce": "SPCE on the probe",
    "train/accuracy": "Training accuracy",
    "validation/MAP@R": "Held-out MAP@R",
    "classifier/top-1": "Classifier, top-1",
    "linear/top-1": "Linear probe, top-1",
    "linear/top-5": "Linear probe, top-5",
    "kNN": "kNN on frozen features",  # of training images; "kNN@10" is the vote of the neighbours in the test set
    "hubness": "Hubness",
    "queries": "Queries",
    "anatomy/ce": "CE of what is compared",
    "anatomy/pce": "PCE",
    "anatomy/lambda": "λ of PCE",
    "anatomy/seen/scale": "Scale of what is compared",
    "anatomy/entropy/embeddings": "H(Z)",
    "anatomy/entropy/within": "H(Z|Y)",
    "anatomy/entropy/labels": "H(Y)",
    "anatomy/information/generative": "H(Z) − H(Z|Y)",
    "anatomy/information/discriminative": "H(Y) − CE",
    **{f"anatomy/{method}/tightness": f"Tightness part of {title}" for method, title in METHODS.items()},
    **{f"anatomy/{method}/contrastive": f"Contrastive part of {title}" for method, title in METHODS.items()},
    "geometry/alignment": "Alignment",
    "geometry/class_distance": "Distance between classes",
    "geometry/covering_radius": "Covering radius",
    "geometry/dead_dimensions": "Dead dimensions",
    "geometry/effective_rank": "Effective rank",
    "geometry/foreign_margin": "Margin to other classes",
    "geometry/inter_cosine": "Cosine between classes",
    "geometry/intra_cosine": "Cosine within classes",
    "geometry/largest_hub": "Largest hub",
    "geometry/mean_norm": "Mean norm",
    "geometry/norm_spread": "Spread of norms",
    "geometry/overlap": "Overlap of similarities",
    "geometry/uniformity": "Uniformity",
    "projection/steps": "Steps before a projection",
    "projection/covering_radius": "Covering radius of proxies",
    "projection/relative_radius": "Relative covering radius of proxies",
    "projection/k_center_radius": "k-center radius",
    "projection/class_distance": "Distance between classes of proxies",
    "projection/MAP@R": "MAP@R at a projection",
    "system/forward": "Forward pass, s",
    "system/backward": "Backward pass, s",
    "system/loss": "Loss, s",
    "system/optimiser": "Optimiser, s",
    "system/probe": "Probe, s",
    "system/seconds": "Time since the start, s",
    "system/memory": "Memory of the run, bytes",
    "system/machine_memory": "Memory of all programs, bytes",
    "system/group_memory": "Memory of the container or job, bytes",
    "system/gpu_memory": "Memory of the GPU, bytes",
    "system/processor": "CPU load",
    "system/gpu_load": "GPU load",
    "system/gpu_power": "GPU power, W",
    "system/gpu_temperature": "GPU temperature, °C",
    "system/disk_read": "Disk read, bytes/s",
}
BY = {"l2": "L2 distance", "cosine": "cosine", "hyperbolic": "hyperbolic distance"}  # another than the run's
LIMIT = "system/limit/"


def metric_name(metric: str) -> str:
    """A metric or scalar of training as it is shown: "R@1" for "recall@1", "CE on the probe" for "probe/ce".

    One that a method of other people tells is shown by its own name.
    """
    if metric in TITLES:
        return TITLES[metric]
    if metric.startswith(LIMIT):
        return f"Limit: {metric_name(f'system/{metric.removeprefix(LIMIT)}')}"
    first, _, rest = metric.partition("/")
    if rest and first == "test":
        return f"{metric_name(rest)}, test set"
    if rest and first in BY:
        return f"{metric_name(rest)} by {BY[first]}"
    if first == "level" and "/" in rest:
        level, _, name = rest.rpartition("/")
        return f"{metric_name(name)} by {level}"
    return metric.replace("recall@", "R@")
