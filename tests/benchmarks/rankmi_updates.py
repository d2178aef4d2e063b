"""RankMI at equal updates of the embeddings: half or more of its steps train its statistics network alone.

    python -m tests.benchmarks.rankmi_updates --data DIR --workspace DIR [--set FIELD=VALUE]

Takes RankMI's best setting from a fair comparison on Omniglot that the workspace holds, and trains it over its seeds
for so many steps more that the embeddings change as often as those of the other losses; also without its order loss.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from workbench.comparing.statistics.intervals import t_interval
from workbench.entries import catalog
from workbench.fair.plan import planned, tuning_config
from workbench.fair.runs import Runs
from workbench.fair.scores import METRIC
from workbench.settings.changed import toml_value
from workbench.workspace import Workspace


def main() -> None:
    """Print a row for each variant."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--set", dest="changes", action="append", default=[])
    args = parser.parse_args()
    changes = {field: toml_value(text) for field, _, text in (change.partition("=") for change in args.changes)}
    known = catalog.current()
    plan = planned("omniglot", args.data, 10, 5, steps=args.steps, folds=2, changes=changes)
    print("| steps | of them for the embeddings | order loss | MAP@R % (95%) |\n|---|---|---|---|")
    with Workspace(args.workspace) as workspace:
        runs = Runs(workspace, known, lambda line: None)
        _, tried = runs.tune(plan, "rankmi")
        best = dict(tried.best.setting)
        more = args.steps * (int(best["loss.ratio"]) + 1)
        for steps in (args.steps, more):
            for order in (best["loss.order"], 0.0):
                longer = replace(plan, steps=steps)
                setting = best | {"loss.order": order}
                tested = runs.tested(longer, tuning_config(longer, "rankmi", known), setting)
                last = [workspace.evaluations(run.id)[-1].metrics[METRIC] for run in tested]
                over = t_interval(last)
                interval = f"{100 * over.mean:.2f} ({100 * over.low:.2f} to {100 * over.high:.2f})"
                print(f"| {steps} | {steps * args.steps // more} | {order:.3g} | {interval} |", flush=True)


if __name__ == "__main__":
    main()
