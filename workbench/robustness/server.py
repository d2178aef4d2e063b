"""The process that measures robustness: `python -m workbench.robustness.server`; jobs/serving.py has its protocol.

torch runs here, beside the window's process. Op: measure.
"""

from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.progress import Progress
from workbench.robustness.request import robustness
from workbench.workspace import Workspace


def measure(request: Message, progress: Progress) -> Message:
    """Measure: workspace, evaluation, changes (names; empty for all), queries (how many)."""
    with Workspace(field(request, "workspace", str)) as workspace:
        return robustness(
            workspace, field(request, "evaluation", int), field(request, "changes", list),
            field(request, "queries", int), progress=progress,
        )  # fmt: skip


OPS: Ops = {"measure": measure}

if __name__ == "__main__":
    serving.run(OPS)
