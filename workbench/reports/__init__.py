"""Reports of runs: one HTML file, PDF, LaTeX, CSV tables, figures for print, and all of it in one ZIP file."""

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import files
from workbench.files.new_files import NewFiles
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, quiet
from workbench.reports.sections import BUNDLE, FORMATS, PAPER, PAPERS, SECTIONS
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Busy, Full
from workbench.workspace.paths import inside
from workbench.workspace.tables.runs import Deleted

if TYPE_CHECKING:
    from workbench.reports.document import Made, Wish
    from workbench.reports.formats.pdf import Preview

__all__ = [
    "BUNDLE",
    "FORMATS",
    "PAPER",
    "PAPERS",
    "SECTIONS",
    "preview_pages",
    "wish_of",
    "write_bundle",
    "write_report",
]


def wish_of(
    runs: int | Sequence[int],
    sections: Iterable[str] | None = None,
    title: str = "",
    notes: str = "",
    metric: str = "MAP@R",
    at: str | int = "best",
    paper: str = PAPER,
) -> "Wish":
    """What `write_report` and the others take; see `document.Wish`. All sections of one run by default."""
    from workbench.reports.document import Wish
    from workbench.reports.sections import ONE_RUN

    numbers = (runs,) if isinstance(runs, int) else tuple(runs)
    return Wish(numbers, ONE_RUN if sections is None else tuple(sections), title, notes, metric, at, paper)


def write_report(
    workspace: Workspace,
    runs: int | Sequence[int],
    out: Path,
    formats: Iterable[str] = ("html",),
    sections: Iterable[str] | None = None,
    title: str = "",
    notes: str = "",
    progress: Progress = quiet,
    metric: str = "MAP@R",
    at: str | int = "best",
    paper: str = PAPER,
) -> list[Path]:
    """Write the report of one or more runs; every file is whole or unchanged, and of a failure no new file stays.

    Args:
        workspace: where the runs are.
        runs: their numbers; sections of one run are about the first, with whose group others are compared.
        out: folder for the files; made when missing.
        formats: of FORMATS.
        sections: of SECTIONS, in their order; all of one run by default.
        title: the run's name when empty.
        notes: own text (Markdown); the note of a single run when empty.
        progress: called before each format; may raise Cancelled.
        metric: the number that a comparison is about.
        at: which evaluation of each run: "best", "last" or an epoch.
        paper: size of the PDF's pages, of PAPERS.

    Returns:
        The files, those that open as a report first.

    Raises:
        Problem: no such run, format, section, metric or epoch, a run that is deleted meanwhile, or a place that cannot
            be written.
    """
    wanted, wish = list(formats), wish_of(runs, sections, title, notes, metric, at, paper)
    unknown = [kind for kind in wanted if kind not in FORMATS]
    if unknown:
        raise Problem(f"There is no format {unknown[0]!r} of a report.", todo=f"Known: {', '.join(FORMATS)}.")
    report = _made(workspace, wish, progress, len(wanted) + 1)
    written: list[Path] = []
    with NewFiles() as new:
        for done, kind in enumerate(wanted, start=1):
            progress(f"Writing {kind}", done, len(wanted) + 1)
            encoded = _encoded(kind, report, workspace)
            for name, data in encoded.items():
                path = inside(out, name)  # a folder of a run may hold links that lead elsewhere
                new.add(path)
                workspace.make_folder(path.parent)
                with files.chosen_file(path) as file:
                    file.write(data)
                written.append(path)
    if not workspace.read_only:
        with contextlib.suppress(Full, Busy, Deleted):  # the report itself is written, perhaps on another disk
            for path in written:
                if path.suffix in (".html", ".pdf", ".tex"):
                    workspace.add_artefact(report.runs[0].id, "report", path)
    progress("Done", len(wanted) + 1, len(wanted) + 1)
    return written


def write_bundle(workspace: Workspace, wish: "Wish", path: Path, progress: Progress = quiet) -> None:
    """Write one ZIP file with the report in every form, the configs, the tables and a manifest.

    Args:
        wish: of `wish_of`. path: the file; it is whole or unchanged. progress: may raise Cancelled.

    Raises:
        Problem: as in `write_report`.
    """
    from workbench.reports.formats import bundle

    report = _made(workspace, wish, progress, len(FORMATS) + 1)
    contents: dict[str, bytes] = {}
    for done, kind in enumerate(FORMATS, start=1):
        progress(f"Writing {kind}", done, len(FORMATS) + 1)
        folder = {"latex": "latex/", "csv": "csv/"}.get(kind, "")
        contents |= {f"{folder}{name}": data for name, data in _encoded(kind, report, workspace).items()}
    with NewFiles() as new:
        new.add(path)
        workspace.make_folder(path.parent)
        bundle.write(path, report, wish, contents)
    progress("Done", len(FORMATS) + 1, len(FORMATS) + 1)


def preview_pages(workspace: Workspace, wish: "Wish", dpi: int = 96, progress: Progress = quiet) -> "Preview":
    """The first pages of the PDF as PNG files in memory, for the window; see `pdf.Preview`.

    Raises:
        Problem: as in `write_report`.
    """
    from workbench.reports.formats import pdf

    report = _made(workspace, wish, progress, 2)
    progress("Laying out pages", 1, 2)
    return pdf.preview(report.document, dpi, report.paper)


def _made(workspace: Workspace, wish: "Wish", progress: Progress, total: int) -> "Made":
    from workbench.reports.document import make

    progress("Reading the runs", 0, total)
    return make(workspace, wish, lambda text, done, all_of_it: progress(text, 0, total))


def _check_there(workspace: Workspace, report: "Made") -> None:
    """Raise Deleted if a run was deleted since it was read: tables may be truncated, and its folder is gone."""
    for run in report.runs:
        workspace.check_there(run.id)


def _encoded(kind: str, report: "Made", workspace: Workspace) -> dict[str, bytes]:
    """The files of one format by their names. Raises Deleted if a run was deleted since it was read."""
    try:
        encoded = _as_format(kind, report, workspace)
    except UnknownName:
        _check_there(workspace, report)
        raise
    _check_there(workspace, report)
    return encoded


def _as_format(kind: str, report: "Made", workspace: Workspace) -> dict[str, bytes]:
    from workbench.reports.figures.drawing import COLUMN, FULL, PAPER
    from workbench.reports.formats import html, latex, pdf, tables

    document, drawn = report.document, report.document.drawings
    match kind:
        case "html":
            return {"report.html": html.page(document).encode()}
        case "pdf":
            return {"report.pdf": pdf.encode(document, report.paper)}
        case "csv":
            return {name: text.encode() for name, text in tables.csv_tables(report, workspace).items()}
        case "latex":
            places = {name: f"figures/{name}.pdf" for name in drawn}
            text = latex.fragment(document, places)
            pictures = {
                places[name]: drawing.encode("pdf", FULL if drawing.wide else COLUMN, PAPER)
                for name, drawing in drawn.items()
            }
            return {"report.tex": text.encode(), "main.tex": latex.MAIN.encode(), **pictures}
        case _:
            return {
                f"figures/{name}.{ending}": drawing.encode(ending)
                for name, drawing in drawn.items()
                for ending in ("svg", "pdf", "png")
            }
