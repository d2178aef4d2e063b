"""Planted label noise: precision and recall of the triage queue, beside cleanlab's where it is installed.

    python -m tests.benchmarks.label_noise --data DATA --on digits --on mnist --on omniglot

A network is trained by Workbench on other images; noise is planted in the labels of its test set, and both methods get
the same embeddings and labels. cleanlab gets out-of-fold probabilities of scikit-learn's logistic regression and of its
nearest neighbours (5 folds), as its documentation asks.
"""

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from workbench.commands.training.run_here import Manner, run_here
from workbench.results.stored import Stored, read_stored
from workbench.results.triage import LABEL, class_shares, queue, suspicions
from workbench.settings.changed import read_config
from workbench.workspace import Workspace

SHARES = (0.05, 0.1, 0.2)
CONFIGS = {  # a preset and what is changed of it; no class of the test set of Omniglot and photographs is trained on
    "digits": ("sample-digits", ()),
    "omniglot": ("omniglot-unseen", ("dataset.place={data}/omniglot/images_background_small1.zip",)),
    "photographs": (
        "photographs-unseen",
        (
            "dataset.folder={data}/caltech101",
            "backbone.weights_file={data}/weights/squeezenet1_0.pth",
            "loss.name=ce",
            "loss.proxy_lr=10",
            "training.lr=0.001",
            "training.backbone_lr=0",
            "sampler.name=random",
            "augmentation.name=none",
            "training.keep_features=true",
        ),
    ),
    "mnist": ("mnist-ce-spce", ("dataset.folder={data}/mnist", "training.epochs=1", "evaluation.probe_size=0")),
}


def planted(labels: np.ndarray, share: float, by_pairs: bool, seed: int) -> np.ndarray:
    """Labels with a share changed: to any other class alike, or each class to one other alone (a pair of classes)."""
    rng = np.random.default_rng(seed)
    names, classes = np.unique(labels, return_inverse=True)
    rows = rng.choice(len(labels), round(share * len(labels)), replace=False)
    shift = 1 if by_pairs else rng.integers(1, len(names), len(rows))
    noisy = classes.copy()
    noisy[rows] = (noisy[rows] + shift) % len(names)
    return names[noisy]


def searched_anew(stored: Stored, labels: np.ndarray, proxies: bool) -> Stored:
    """The evaluation with other labels; the neighbours stay, because embeddings do not depend on the labels."""
    known = (stored.proxies, stored.proxy_labels) if proxies else (None, None)
    return replace(stored, labels=labels, proxies=known[0], proxy_labels=known[1])


Flags = tuple[np.ndarray, np.ndarray]  # flagged [n] bool, and how suspect each is [n]


def scores(flags: Flags, wrong: np.ndarray) -> tuple[float, float, float]:
    """Precision and recall of the flagged images, and average precision of the order, given wrong [n] bool."""
    flagged, suspect = flags
    hits = (flagged & wrong).sum()
    order = average_precision_score(wrong, suspect)
    return hits / max(1, flagged.sum()), hits / max(1, wrong.sum()), order


def of_triage(stored: Stored) -> Flags:
    """The images that the queue lists as wrongly labelled."""
    listed = [one.sample_id for one in queue(stored) if one.kind == LABEL]
    shares, names = class_shares(stored)
    return np.isin(stored.sample_ids, listed), suspicions(shares, np.searchsorted(names, stored.labels))


def of_cleanlab(stored: Stored, model: object) -> Flags | None:
    """The images that cleanlab flags; None if it is not installed."""
    try:
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return None
    classes = np.unique(stored.labels, return_inverse=True)[1]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    likely = cross_val_predict(model, stored.vectors(slice(None)), classes, cv=folds, method="predict_proba")
    return np.asarray(find_label_issues(classes, likely, n_jobs=1)), -get_label_quality_scores(classes, likely)


def measured(stored: Stored, seeds: int) -> list[str]:
    """Lines of the table for one bench."""
    lines = []
    for by_pairs in (False, True):
        for share in SHARES:
            of_method: dict[str, list[tuple[float, float, float]]] = {}
            for seed in range(seeds):
                labels = planted(stored.labels, share, by_pairs, seed)
                flags: dict[str, Flags | None] = {"triage, no proxies": of_triage(searched_anew(stored, labels, False))}
                noisy = searched_anew(stored, labels, True)
                if stored.proxies is not None and np.isin(labels, stored.proxy_labels).all():
                    flags["triage"] = of_triage(noisy)
                flags["cleanlab, logistic"] = of_cleanlab(noisy, LogisticRegression(max_iter=300))
                flags["cleanlab, 10-NN"] = of_cleanlab(noisy, KNeighborsClassifier(10))
                for name, flagged in flags.items():
                    if flagged is not None:
                        of_method.setdefault(name, []).append(scores(flagged, labels != stored.labels))
            kind = "pairs" if by_pairs else "any"
            for name, values in of_method.items():
                shown = " | ".join(f"{value:.1f}" for value in 100 * np.mean(values, axis=0))
                lines.append(f"| {kind} | {share:.0%} | {name} | {shown} |")
    return lines


def main() -> None:
    """Train, plant, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--on", action="append", choices=list(CONFIGS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workspace", type=Path, default=None)
    parser.add_argument("--set", dest="changes", action="append", default=[], help="change a field of every training")
    asked = parser.parse_args()
    place = asked.workspace or Path(tempfile.mkdtemp()) / "space"
    with Workspace(place, create=True) as workspace:
        for bench in asked.on or ["digits"]:
            preset, changes = CONFIGS[bench]
            config = read_config(preset, (*(change.format(data=asked.data) for change in changes), *asked.changes))
            config = config.model_copy(update={"name": f"label noise, {bench}"})
            known = [run for run in workspace.runs() if run.name == config.name and run.status == "done"]
            if not known:
                run_here(config, place, Manner(quiet=True))
            run = next(run for run in workspace.runs() if run.name == config.name)
            stored = read_stored(workspace, workspace.evaluations(run.id)[-1].id)
            print(f"### {bench}: {len(stored.labels):,} images, {len(np.unique(stored.labels)):,} classes, "
                  f"{asked.seeds} seeds\n")  # fmt: skip
            print("| noise | share | method | precision % | recall % | order % |\n|---|---|---|---|---|---|")
            print("\n".join(measured(stored, asked.seeds)), flush=True)
            print()


if __name__ == "__main__":
    main()
