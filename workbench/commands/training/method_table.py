"""Every method once, with its own settings, over seeds: an overview, not a ranking (fair/ ranks); no run repeats."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from statistics import mean, stdev
from typing import Any

import numpy as np

from workbench.config import RunConfig
from workbench.control import Control
from workbench.entries import catalog as catalogs
from workbench.fair.benches import BENCHES, with_batches
from workbench.files.temporary import temporary_folder
from workbench.jobs import AnalysisProcess
from workbench.numerals import megabytes, percentage
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.running.launch import make_job, prepare_run
from workbench.running.unusable import refuse_unusable
from workbench.settings.presets import presets
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Run

OPTIMISTIC = "Optimistic: the best epoch of each run was chosen on the test set."
LOOK = 0.2  # seconds between two looks at a run
CHOSEN_ON = "omniglot"  # whose settings a method takes where it has none of the bench


@dataclass(frozen=True, slots=True)
class Row:
    """One method on one data set, over the seeds that are done."""

    method: str
    recall_at_1: list[float]
    map_at_r: list[float]
    nmi: list[float]
    seconds_per_epoch: list[float]
    memory_bytes: int


def config_for(bench: str, method: str, seed: int, data: Path) -> RunConfig:
    """The run of one method. Raises Problem when the two do not go together."""
    known, chosen = catalogs.current(), BENCHES[bench]
    values = next(preset.config for preset in presets() if preset.key == chosen.preset).model_dump()
    if values["loss"]["name"] != method:
        values["loss"] = {"name": method}
    with_batches(values, method, chosen.per_class, known)
    for part, fields in chosen.changes.items():
        values[part] |= fields
    measured = catalogs.measured_fields(known, method, bench) or catalogs.measured_fields(known, method, CHOSEN_ON)
    paths = {dotted: str(data.absolute() / below) for dotted, below in chosen.data.items()}
    for dotted, value in (measured | paths).items():
        part, _, name = dotted.partition(".")
        values[part][name] = value
    values |= {"name": f"benchmark {bench} {method}, seed {seed}", "seed": seed}
    config, errors = RunConfig.from_values(values, known)
    if config is None:
        raise Problem(f"{method} cannot be run on {bench}: {'; '.join(errors.values())}")
    return config


def compare(
    workspace: Workspace, bench: str, methods: list[str], seeds: list[int], data: Path, progress: Progress
) -> list[Row]:
    """Run what is not done yet, and read everything back: the untrained network first, then by falling MAP@R.

    `progress` is called with the scores of each run that was trained here, and how many runs are done.

    Raises:
        Problem: a run that failed, and why; or the images changed between runs.
    """
    trained: list[tuple[str, list[Run]]] = []
    total = len(methods) * len(seeds)
    for method in methods:
        runs: list[Run] = []
        for seed in seeds:
            config = config_for(bench, method, seed, data)
            run = _done(workspace, config)
            if run is None:
                run = _trained(workspace, config)
                scores = f"{config.name}: MAP@R {percentage(run.best['MAP@R'], 2)} in {run.seconds:.0f} s"
                progress(scores, len(trained) * len(seeds) + len(runs) + 1, total)
            runs.append(run)
        trained.append((method, runs))
    _refuse_unlike_data(workspace, [run for _, runs in trained for run in runs])
    answers: SimpleQueue[dict[str, Any]] = SimpleQueue()
    with closing(AnalysisProcess(answers.put)) as process:
        agreement = partial(_nmi, workspace, process, answers)
        untrained = _row(workspace, "untrained", trained[0][1], agreement, best=False)
        rows = [_row(workspace, method, runs, agreement, best=True) for method, runs in trained]
    return [untrained, *sorted(rows, key=lambda row: -mean(row.map_at_r))]


def table(rows: list[Row]) -> str:
    """The rows as Markdown; mean and standard deviation over seeds."""
    lines = [
        "| method, mean ± SD over seeds | R@1 % | MAP@R % | NMI | s / epoch | memory |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        trained = row.method != "untrained"
        cells = [
            row.method, _spread(row.recall_at_1, 100, 2), _spread(row.map_at_r, 100, 2), _spread(row.nmi, 1, 3),
            f"{mean(row.seconds_per_epoch):.1f}" if trained else "",
            f"{megabytes(row.memory_bytes)} MB" if trained else "",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _done(workspace: Workspace, config: RunConfig) -> Run | None:
    """The finished run of that config, if there is one."""
    wanted = config.filled(catalogs.current())
    for run in workspace.runs():
        if run.status == "done" and run.name == config.name and _same(run, wanted):
            return run
    return None


def _trained(workspace: Workspace, config: RunConfig) -> Run:
    """Train a run of that config here and now. Raises Problem if it failed, or, before it is made, for its data."""
    listed = refuse_unusable(config, quiet)
    run_id = prepare_run(config, workspace)
    control = Control()
    job = make_job(workspace, run_id, control, listed=listed).start()
    try:
        while not job.join(LOOK):
            pass
    except KeyboardInterrupt:
        control.interrupt()  # libraries abort a process that ends while a thread of it trains
        job.join()
        raise
    run = workspace.run(run_id)
    if run.status != "done":
        raise Problem(f"{config.name}: {run.status}. {run.problem}", kept="The runs before it are kept.")
    return run


def _refuse_unlike_data(workspace: Workspace, runs: list[Run]) -> None:
    """Raise Problem where runs done before saw other images than those of now, in the same folder."""
    if len({run.dataset_id for run in runs}) > 1:
        newest = max(runs, key=lambda run: run.id).dataset_id
        other = [str(run.id) for run in runs if run.dataset_id != newest]
        raise Problem(
            f"The images have changed since {'run' if len(other) == 1 else 'runs'} {', '.join(other)}, so these "
            "numbers cannot be compared in one table.",
            kept="All runs are kept.",
            todo="Move those to the trash and start again, or give another --workspace.",
        )


def _same(run: Run, wanted: RunConfig) -> bool:
    known = catalogs.current()
    return RunConfig.from_toml_text(run.config, known=known).filled(known).with_whole_paths(known) == wanted


def _row(
    workspace: Workspace, method: str, runs: list[Run], agreement: Callable[[Evaluation], float], *, best: bool
) -> Row:
    chosen = []
    for run in runs:
        evaluations = workspace.evaluations(run.id)
        chosen.append(max(evaluations, key=lambda evaluation: evaluation.metrics["MAP@R"]) if best else evaluations[0])
    return Row(
        method,
        [evaluation.metrics["recall@1"] for evaluation in chosen],
        [evaluation.metrics["MAP@R"] for evaluation in chosen],
        [agreement(evaluation) for evaluation in chosen],
        [run.seconds / run.epochs for run in runs],
        max(run.memory_bytes for run in runs),
    )


def _nmi(
    workspace: Workspace, process: AnalysisProcess, answers: SimpleQueue[dict[str, Any]], evaluation: Evaluation
) -> float:
    """Agreement of k-means clusters with the classes, measured in the analysis process."""
    _, labels, embeddings = workspace.embeddings(evaluation.id)
    with temporary_folder("workbench") as folder:
        vectors, classes = folder / "embeddings.npy", folder / "labels.npy"
        np.save(vectors, embeddings)
        np.save(classes, labels)
        process.request("nmi", embeddings=str(vectors), labels=str(classes), metric=evaluation.distance, seed=0)
        while (answer := answers.get())["event"] == "progress":
            pass
    if answer["event"] == "error":
        raise Problem(answer["what"], kept=answer.get("kept", ""), todo=answer.get("todo", ""))
    return float(answer["nmi"])


def _spread(values: list[float], times: float, digits: int) -> str:
    middle = f"{times * mean(values):.{digits}f}"
    return f"{middle} ± {times * stdev(values):.{digits}f}" if len(values) > 1 else middle
