"""What a run can be exported as. Light to import: torch and the optional packages are loaded when they are needed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench import files
from workbench.exchange.exported import config, embeddings, run_folder, scalars, tensorboard, trained
from workbench.exchange.source import BEST, Epoch, Source, source_of
from workbench.files.packages import missing
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, quiet
from workbench.running.trained_network import checkpoints
from workbench.workspace import Workspace
from workbench.workspace.folders import deleted_checkpoints


def _torch(source: Source, out: Path, progress: Progress) -> list[Path]:
    from workbench.exchange.exported import model

    return model.write_torch(source, out, progress)


def _onnx(source: Source, out: Path, progress: Progress) -> list[Path]:
    from workbench.exchange.exported import model

    return model.write_onnx(source, out, progress)


@dataclass(frozen=True, slots=True)
class Format:
    """An export format.

    Args:
        title: its name. help: which files, for what.
        write: writes the files into an existing folder; returns their paths.
        needs: what the run must have.
        extra, packages: the optional dependencies in pyproject.toml, and what they import.
    """

    title: str
    help: str
    write: Callable[[Source, Path, Progress], list[Path]]
    needs: Literal["", "curves", "evaluation", "checkpoint", "end"] = ""
    extra: str = ""
    packages: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {
    "config": Format("Config", "config.toml, as the run was started", config.write),
    "run": Format(
        "Run folder", "a folder with all of the run, which `workbench ingest` imports into another workspace",
        run_folder.write, "end",
    ),
    "csv": Format("Curves as CSV", "scalars.csv, for a spreadsheet", scalars.write_csv, "curves"),
    "parquet": Format(
        "Curves as Parquet", "scalars.parquet, for a data frame", scalars.write_parquet, "curves", "parquet",
        ("pyarrow",),
    ),
    "tensorboard": Format("Curves for TensorBoard", "an event file", tensorboard.write, "curves"),
    "npy": Format(
        "Embeddings as NumPy arrays", "embeddings.npy, labels.npy, samples.csv", embeddings.write_npy, "evaluation"
    ),
    "projector": Format(
        "Embeddings for the Projector", "vectors.tsv and metadata.tsv", embeddings.write_projector, "evaluation"
    ),
    "trained": Format(
        "Trained weights", "trained.safetensors: what was trained, without a frozen network", trained.write,
        "checkpoint",
    ),
    "torch": Format(
        "Network by torch.export", "model.pt2 with a note and an example", _torch, "checkpoint"
    ),
    "onnx": Format(
        "Network as ONNX", "model.onnx with a note and an example", _onnx, "checkpoint", "onnx", ("onnx", "onnxscript")
    ),
}  # fmt: skip


def refusal(name: str, source: Source) -> str:
    """Why the run cannot be exported in this format now, as a sentence; empty when it can. Reads little."""
    wanted, run = FORMATS[name], source.run
    if lacking := missing(wanted.title.rpartition(" ")[2], wanted.extra, wanted.packages):
        return lacking
    if wanted.needs == "end":
        return run_folder.refusal(run, source.workspace.folder(run.id))
    there = {
        "": True,
        "curves": bool(source.workspace.scalar_names(run.id)),
        "evaluation": source.evaluation is not None,
        "checkpoint": bool(checkpoints(source.workspace, run.id)),
    }[wanted.needs]
    if there:
        return ""
    return {
        "curves": run.has_no("curves"),
        "evaluation": run.has_no("evaluation"),
        "checkpoint": _no_network(source),
    }[wanted.needs]


def _no_network(source: Source) -> str:
    """Why there is no network of the run to export, and what else there is."""
    run = source.run
    rest = "its curves, embeddings and settings can be exported"
    if "own_loop" in run.environment:
        return f"The network of run {run.id} is only in the program that recorded it, a loop of your own; {rest}."
    if run.tested is not None:
        return f"Run {run.id} is a test of run {run.tested}, which has the network; its embeddings can be exported."
    if "imported" in run.environment:
        return f"Run {run.id} was imported, without a network; its embeddings can be exported."
    if run.curves_of:
        return f"Run {run.id} was imported as curves, without a network; its curves can be exported."
    return deleted_checkpoints.lack(run.id, source.workspace.folder(run.id))


def export_run(
    workspace: Workspace,
    run_id: int,
    names: Iterable[str],
    out: Path,
    progress: Progress = quiet,
    epoch: Epoch = BEST,
    remark: Callable[[str], None] = lambda sentence: None,
) -> list[Path]:
    """Write a run in some formats; a run that is still training is written in its current state.

    Args:
        names: keys of FORMATS.
        out: folder; made with the first file where it is missing. Files of an earlier export are replaced when the new
            ones are complete.
        progress: called at each stage; may raise Cancelled.
        epoch: of the evaluation whose embeddings are written, "best", "last" or a number. Networks are always the best.
        remark: called with a sentence for each thing that a format has no place for and that was left out.

    Returns:
        The files, in the order of `names`.

    Raises:
        Problem: a format is not possible for this run (nothing is written), the disk is full, or the run was deleted
            meanwhile (old files stay, and no new one does).
    """
    source, wanted = source_of(workspace, run_id, epoch), list(dict.fromkeys(names))
    for name in wanted:
        if name not in FORMATS:
            raise Problem(f"There is no format {name!r}.", todo=f"Known: {', '.join(FORMATS)}.")
        if why := refusal(name, source):
            raise Problem(why, kept="Nothing was written.")
    written: list[Path] = []
    try:
        with source.new:
            for name in wanted:
                workspace.check_there(run_id)  # else a folder of a run that is gone would be made again
                written += FORMATS[name].write(source, out, progress)
    except UnknownName:
        workspace.check_there(run_id)  # of a run that was deleted meanwhile this says so
        raise
    except OSError as error:
        raise files.explain(error, out) from error
    for sentence in source.remarks:
        remark(sentence)
    return written
