r"""The measured results in docs/results.md: MNIST (CE against SPCE), Omniglot (the first losses).

    python tests/benchmarks/results.py mnist|omniglot --data DIR --workspace DIR [--seed 0] [--losses ce] \
        [--set FIELD=VALUE]

Runs the presets through the same engine as the window, and prints Markdown.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.config import RunConfig
from workbench.control import Control
from workbench.running.launch import make_job, prepare_run
from workbench.settings.changed import read_config
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

RANDOM = {"sampler": {"name": "random"}}
OMNIGLOT: dict[str, dict[str, Any]] = {
    "ce": {"loss": {"name": "ce", "dropout": 0.0}, **RANDOM},
    "norm_ce": {"loss": {"name": "norm_ce"}, **RANDOM},
    "spce": {"loss": {"name": "spce"}},
    "contrastive": {"loss": {"name": "contrastive"}},
    "multi_similarity": {"loss": {"name": "multi_similarity"}},
    "proxy_anchor": {"loss": {"name": "proxy_anchor", "proxy_lr": 5.0}, **RANDOM},
}


@dataclass(frozen=True)
class Measured:
    run: Run
    untrained: dict[str, float]


def measure(config: RunConfig, workspace: Workspace) -> Measured:
    """Run a preset in this process."""
    run_id = prepare_run(config, workspace)
    job = make_job(workspace, run_id, Control()).start()
    job.join()
    run = workspace.run(run_id)
    if run.status != "done":
        raise SystemExit(f"{config.name}: {run.status}. {run.problem}")
    return Measured(run, workspace.evaluations(run_id)[0].metrics)


def changed(preset: str, data: tuple[str, ...], seed: int, change: dict[str, Any], name: str) -> RunConfig:
    config = read_config(preset, (*data, f"seed={seed}"))
    values = {**config.model_dump(), **change, "name": f"{name}, seed {seed}"}
    return RunConfig.model_validate(values)


def table(rows: list[tuple[str, Measured]]) -> None:
    print("| loss | R@1 | MAP@R | 95% of MAP@R | untrained R@1 / MAP@R | best epoch | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name, each in rows:
        best, run = each.run.best, each.run
        cells = [
            name,
            f"{best['recall@1']:.2%}",
            f"{best['MAP@R']:.2%}",
            f"{best['MAP@R/low']:.2%} to {best['MAP@R/high']:.2%}",
            f"{each.untrained['recall@1']:.2%} / {each.untrained['MAP@R']:.2%}",
            f"{run.best_epoch} of {run.epochs}",
            f"{run.seconds:.0f}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def mnist(workspace: Workspace, data: Path, seed: int, changes: Sequence[str]) -> None:
    """Fig. 1: SPCE below CE early, and the two close at the end."""
    config = changed(
        "mnist-ce-spce", (f"dataset.folder={data / 'mnist'}", *changes), seed, {}, "MNIST, CE against SPCE"
    )
    found = measure(config, workspace)
    steps, ce = workspace.scalars(found.run.id, "probe/ce")
    _, spce = workspace.scalars(found.run.id, "probe/spce")
    first = (steps > 0) & (steps <= steps[-1] // config.training.epochs)
    gap = abs(ce[-1] - spce[-1]) / ce[-1]
    print(f"First epoch: SPCE below CE at {np.mean(spce[first] < ce[first]):.1%} of {first.sum()} probe points")
    print(f"At the end (step {steps[-1]}): CE {ce[-1]:.4f}, SPCE {spce[-1]:.4f}, |CE - SPCE| {gap:.1%} of CE")
    for at in (100, 800, steps[-1]):
        place = int(np.argmin(abs(steps - at)))
        print(f"step {steps[place]}: CE {ce[place]:.4f} SPCE {spce[place]:.4f}")
    table([("ce", found)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["mnist", "omniglot"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--losses", nargs="*")
    parser.add_argument("--set", dest="changes", action="append", default=[])
    args = parser.parse_args()
    with Workspace(args.workspace, create=True) as workspace:
        if args.what == "mnist":
            mnist(workspace, args.data, args.seed, args.changes)
            return
        preset, changes = "omniglot-unseen", OMNIGLOT
        data = (f"dataset.place={args.data / 'omniglot' / 'images_background_small1.zip'}", *args.changes)
        rows = []
        for name in args.losses or list(changes):
            rows.append(
                (name, measure(changed(preset, data, args.seed, changes[name], f"{preset}, {name}"), workspace))
            )
            print(f"{name}: {rows[-1][1].run.best['MAP@R']:.2%}", flush=True)
        table(rows)


if __name__ == "__main__":
    main()
