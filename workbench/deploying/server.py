"""The process that measures deployments: `python -m workbench.deploying.server`; jobs/serving.py has its protocol.

faiss runs here, never beside torch. Ops: deploy, add, queries, export.
"""

from pathlib import Path

from workbench.deploying.request import added, deployment
from workbench.deploying.request import export as export_store
from workbench.deploying.searched_queries import search_queries
from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.progress import Progress
from workbench.workspace import Workspace


def deploy(request: Message, progress: Progress) -> Message:
    """Measure: workspace, evaluation, stores (names; empty for the usual), rate, also (names measured beside them)."""
    evaluation, also = field(request, "evaluation", int), field({"also": [], **request}, "also", list)
    with Workspace(field(request, "workspace", str)) as workspace:
        measured = deployment(
            workspace, evaluation, field(request, "stores", list), field(request, "rate", float), progress
        )
        for name in also:
            measured = added(workspace, evaluation, name, progress, measured)
        return measured


def add(request: Message, progress: Progress) -> Message:
    """Measure one more store beside those that were measured: workspace, evaluation, store (a name)."""
    with Workspace(field(request, "workspace", str)) as workspace:
        return added(workspace, field(request, "evaluation", int), field(request, "store", str), progress)


def queries(request: Message, progress: Progress) -> Message:
    """Search all queries by a method, and store their neighbours: workspace, evaluation, method (a name)."""
    with Workspace(field(request, "workspace", str)) as workspace:
        search_queries(workspace, field(request, "evaluation", int), field(request, "method", str), progress)
    return {}


def export(request: Message, progress: Progress) -> Message:
    """Write a store into the folder `out`: workspace, evaluation, store (a name), rate."""
    with Workspace(field(request, "workspace", str)) as workspace:
        written = export_store(
            workspace, field(request, "evaluation", int), field(request, "store", str),
            Path(field(request, "out", str)), field(request, "rate", float), progress,
        )  # fmt: skip
    return {"files": [str(path) for path in written]}


OPS: Ops = {"deploy": deploy, "add": add, "queries": queries, "export": export}

if __name__ == "__main__":
    serving.run(OPS)
