"""The process that exports and imports: `python -m workbench.exchange.server`; jobs/serving.py describes its protocol.

torch.export holds the interpreter for hundreds of milliseconds at a time, and so do large tables: a window of the same
process would feel it. Ops: evaluate, evaluate_all, export, import, import_curves.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Literal

from workbench.exchange.formats import export_run
from workbench.exchange.imported.curve_import import import_curves
from workbench.exchange.imported.gallery_import import import_gallery
from workbench.exchange.imported.importing import import_embeddings
from workbench.exchange.imported.other_images import evaluate_all, evaluate_images
from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.progress import Progress
from workbench.workspace import Workspace


def export(request: Message, progress: Progress) -> Message:
    """Write a run into `out`: workspace, run, formats, epoch (as text: best, last or a number)."""
    epoch, remarks = field(request, "epoch", str), list[str]()
    with Workspace(field(request, "workspace", str)) as workspace:
        written = export_run(
            workspace, field(request, "run", int), field(request, "formats", list), Path(field(request, "out", str)),
            progress, int(epoch) if epoch.isdecimal() else epoch, remarks.append,
        )  # fmt: skip
    return {"files": [str(path) for path in written], "remarks": remarks}


def import_run(request: Message, progress: Progress) -> Message:
    """Make a run: workspace, embeddings, labels, images (empty for none), name, distance, image_size, only_search."""
    labels, images = field(request, "labels", str), field(request, "images", str)
    with Workspace(field(request, "workspace", str)) as workspace:
        if field(request, "only_search", bool):
            distance: Literal["cosine", "l2"] = "l2" if field(request, "distance", str) == "l2" else "cosine"
            run_id = import_gallery(
                workspace, Path(field(request, "embeddings", str)), Path(labels) if labels else None,
                field(request, "name", str), distance, progress,
            )  # fmt: skip
            return {"run": run_id}
        run_id = import_embeddings(
            workspace, Path(field(request, "embeddings", str)), Path(labels) if labels else None,
            Path(images) if images else None, field(request, "name", str), field(request, "distance", str),
            field(request, "image_size", int), progress,
        )  # fmt: skip
    return {"run": run_id}


def import_of_curves(request: Message, progress: Progress) -> Message:
    """Make runs of curves: workspace, source, name."""
    with Workspace(field(request, "workspace", str)) as workspace:
        source, name = Path(field(request, "source", str)), field(request, "name", str)
        imported, remarks = import_curves(workspace, source, name, progress)
    return {"runs": [asdict(run) for run in imported], "remarks": remarks}


def evaluate(request: Message, progress: Progress) -> Message:
    """Make a run of the network of another on other images: workspace, run, images, name, epoch, device."""
    with Workspace(field(request, "workspace", str)) as workspace:
        made = evaluate_images(
            workspace, field(request, "run", int), Path(field(request, "images", str)), field(request, "name", str),
            field(request, "epoch", str), field(request, "device", str), progress,
        )  # fmt: skip
    return asdict(made)


def evaluate_several(request: Message, progress: Progress) -> Message:
    """Make a run for each network on the same images: workspace, runs, images, name, epoch, device."""
    with Workspace(field(request, "workspace", str)) as workspace:
        made = evaluate_all(
            workspace, field(request, "runs", list), Path(field(request, "images", str)), field(request, "name", str),
            field(request, "epoch", str), field(request, "device", str), progress,
        )  # fmt: skip
    return {"tests": [asdict(tested) for tested in made]}


OPS: Ops = {
    "evaluate": evaluate,
    "evaluate_all": evaluate_several,
    "export": export,
    "import": import_run,
    "import_curves": import_of_curves,
}

if __name__ == "__main__":
    serving.run(OPS)
