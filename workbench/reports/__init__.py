"""Reports of runs: one HTML file, PDF, LaTeX, CSV tables and figures for print."""

from collections.abc import Callable, Iterable
from pathlib import Path

from workbench import files
from workbench.problem import Problem
from workbench.reports.sections import FORMATS, SECTIONS
from workbench.workspace import Workspace

__all__ = ["FORMATS", "SECTIONS", "preview_pages", "write_report"]


def write_report(
    workspace: Workspace,
    run_id: int,
    out: Path,
    formats: Iterable[str] = ("html",),
    sections: Iterable[str] | None = None,
    title: str = "",
    notes: str = "",
    progress: Callable[[str, int, int], None] = lambda text, done, total: None,
) -> list[Path]:
    """Write the report of a run; every file is whole or unchanged.

    Args:
        workspace: where the run is.
        run_id: its number.
        out: folder for the files; made when missing.
        formats: of "html", "pdf", "latex", "csv" and "figures".
        sections: in their order; all by default.
        title: the run's name when empty.
        notes: the run's note when empty.
        progress: told before each format; may raise Cancelled.

    Returns:
        The files, those that open as a report first.

    Raises:
        Problem: no such run, unknown format or section, or a place that cannot be written.
    """
    from workbench.reports import content as contents
    from workbench.reports import figures, html, pdf, tables

    wanted, chosen = list(formats), tuple(SECTIONS if sections is None else sections)
    for given, known, word in ((wanted, FORMATS, "format"), (chosen, SECTIONS, "section")):
        unknown = [each for each in given if each not in known]
        if unknown:
            raise Problem(f"There is no {word} {unknown[0]!r} of a report.", todo=f"Known: {', '.join(known)}.")
    progress("Reading the run", 0, len(wanted) + 2)
    said = contents.gather(workspace, run_id, chosen, title, notes)
    progress("Drawing figures", 1, len(wanted) + 2)
    drawn = figures.draw(said)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise files.explain(error, out) from error
    written: list[Path] = []

    def write(name: str, data: bytes) -> None:
        path = out / name
        path.parent.mkdir(exist_ok=True)
        with files.atomic_write(path) as file:
            file.write(data)
        written.append(path)

    for done, kind in enumerate(wanted, start=2):
        progress(f"Writing {kind}", done, len(wanted) + 2)
        match kind:
            case "html":
                write("report.html", html.page(said, drawn).encode())
            case "pdf":
                write("report.pdf", pdf.encode(said, drawn))
            case "csv":
                for name, text in tables.csv_tables(said, workspace).items():
                    write(name, text.encode())
            case "latex":
                for name, figure in drawn.items():
                    write(f"figures/{name}.pdf", figures.encode(figure, "pdf"))
                write("report.tex", tables.latex(said, {name: f"figures/{name}.pdf" for name in drawn}).encode())
            case "figures":
                for name, figure in drawn.items():
                    for ending in ("svg", "pdf", "png"):
                        write(f"figures/{name}.{ending}", figures.encode(figure, ending))
    if not workspace.read_only:
        for path in written:
            if path.suffix in (".html", ".pdf", ".tex"):
                workspace.add_artefact(run_id, "report", path)
    progress("Done", len(wanted) + 2, len(wanted) + 2)
    return written


def preview_pages(
    workspace: Workspace,
    run_id: int,
    sections: Iterable[str],
    title: str = "",
    notes: str = "",
    dpi: int = 96,
    progress: Callable[[str, int, int], None] = lambda text, done, total: None,
) -> list[bytes]:
    """The pages of the PDF as PNG files in memory, for the window. Raises Problem when there is no such run."""
    from workbench.reports import content as contents
    from workbench.reports import figures, pdf

    progress("Reading the run", 0, 3)
    said = contents.gather(workspace, run_id, tuple(sections), title, notes)
    progress("Drawing figures", 1, 3)
    drawn = figures.draw(said)
    progress("Laying out pages", 2, 3)
    return pdf.preview(said, drawn, dpi)
