"""The process that computes with scikit-learn: `python -m workbench.sweeps.server`; jobs/serving.py has its protocol.

Ops: importance.
"""

from dataclasses import asdict

from workbench.entries import catalog
from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.progress import Progress
from workbench.sweeps import importance as parameters
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps


def importance(request: Message, progress: Progress) -> Message:
    """Which parameter matters: workspace, sweep (its number).

    The answer is read by `importance.from_answer`; it has the `results` that it was computed from, too.
    """
    number = field(request, "sweep", int)
    with Workspace(field(request, "workspace", str)) as workspace:
        sweep, trials = sweeps.one(workspace, number), sweeps.trials(workspace, number)
    measured = parameters.importance(sweep, trials, catalog.current(), progress)
    return {**asdict(measured), "results": parameters.results(trials)}


OPS: Ops = {"importance": importance}

if __name__ == "__main__":
    serving.run(OPS)
