"""The process that measures deployments: `python -m workbench.deploying.server`; jobs/serving.py has its protocol.

faiss runs here, never beside torch. Ops: deploy, export.
"""

from pathlib import Path

from workbench.deploying.request import deployment
from workbench.deploying.request import export as export_store
from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.progress import Progress
from workbench.workspace import Workspace


def deploy(request: Message, progress: Progress) -> Message:
    """Measure: workspace, evaluation, stores (names; empty for the usual), rate."""
    with Workspace(field(request, "workspace", str)) as workspace:
        return deployment(
            workspace, field(request, "evaluation", int), field(request, "stores", list), field(request, "rate", float),
            progress,
        )  # fmt: skip


def export(request: Message, progress: Progress) -> Message:
    """Write a store into the folder `out`: workspace, evaluation, store (a name), rate."""
    with Workspace(field(request, "workspace", str)) as workspace:
        written = export_store(
            workspace, field(request, "evaluation", int), field(request, "store", str),
            Path(field(request, "out", str)), field(request, "rate", float), progress,
        )  # fmt: skip
    return {"files": [str(path) for path in written]}


OPS: Ops = {"deploy": deploy, "export": export}

if __name__ == "__main__":
    serving.run(OPS)
