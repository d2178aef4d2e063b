"""The process that searches galleries: `python -m workbench.searching.server`; jobs/serving.py has its protocol.

faiss runs here, never beside torch. Ops: ready, build, search.
"""

from pathlib import Path

from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.progress import Progress
from workbench.searching.request import Searcher
from workbench.workspace.folders.run_folders import folder_of

searcher = Searcher()


def folder(request: Message) -> Path:
    """The folder of the run that a request names."""
    return folder_of(Path(field(request, "workspace", str)), field(request, "run", int))


def ready(request: Message, progress: Progress) -> Message:
    """Make the first search faster: workspace, run."""
    searcher.make_ready(folder(request))
    return {}


def build(request: Message, progress: Progress) -> Message:
    """Build the index of a run's gallery: workspace, run. The process is of use for little else afterwards."""
    serving.step_back()
    return searcher.build(folder(request), progress)


def search(request: Message, progress: Progress) -> Message:
    """The nearest of a row: workspace, run, row, k, exact."""
    return searcher.search(
        folder(request), field(request, "row", int),
        field(request, "k", int), field(request, "exact", bool), progress,
    )  # fmt: skip


OPS: Ops = {"ready": ready, "build": build, "search": search}

if __name__ == "__main__":
    serving.run(OPS, awaited=True)
