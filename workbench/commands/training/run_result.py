"""What `workbench run --json` prints: the runs that it trained, as in `workbench list runs --json`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.commands.results.run_lines import data_of_runs
from workbench.commands.terminal import show_json
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments


@contextmanager
def printed_runs(workspace: Workspace, numbers: Sequence[int], as_json: bool) -> Iterator[list[Path]]:
    """Around the training of these runs: print them as JSON, however it ends; the block adds their reports."""
    reports: list[Path] = []
    try:
        yield reports
    finally:
        if as_json:
            show_json(of_workspace(workspace, numbers, reports))


def of_workspace(workspace: Workspace, numbers: Sequence[int], reports: Sequence[Path] = ()) -> dict[str, Any]:
    """Plain data of runs: `workspace`, `runs`, their `experiment`, its joint `result`, and the `reports` by path."""
    runs = [data | {"folder": str(workspace.folder(data["run"]))} for data in data_of_runs(workspace, numbers)]
    number = runs[0]["experiment"] if runs else None
    result = next((stored.result for stored in experiments.every(workspace) if stored.id == number), None)
    return {
        "workspace": str(workspace.path), "runs": runs, "experiment": number, "result": result or None,
        "reports": [str(path) for path in reports],
    }  # fmt: skip
