"""Reports of runs: one HTML file, PDF, LaTeX, CSV tables and figures for print."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench import files
from workbench.problem import Problem
from workbench.reports.sections import FORMATS, SECTIONS
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.reports.content import Content
    from workbench.reports.figures import Drawing

__all__ = ["FORMATS", "SECTIONS", "preview_pages", "write_report"]

RECORDED = (".html", ".pdf", ".tex", ".csv")


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
    from workbench.reports import figures, gather

    wanted = [each for each in FORMATS if each in _known(formats, FORMATS, "format")]
    chosen = _known(SECTIONS if sections is None else sections, SECTIONS, "section")
    total = 2 * len(wanted) + 2
    progress("Reading the run", 0, total)
    said = gather.gather(workspace, run_id, chosen, title, notes)
    drawn = figures.draw(said)
    made: dict[str, bytes] = {}
    for done, kind in enumerate(wanted, start=1):
        progress(f"Making {kind}", done, total)
        made |= _made(kind, said, drawn, workspace)
    written = []
    for done, (name, data) in enumerate(made.items()):
        progress(f"Writing {name}", len(wanted) + 1 + len(wanted) * done // len(made), total)
        written.append(_write(out / name, data))
    if not workspace.read_only:
        progress("Recording the report", total - 1, total)
        for path in written:
            if path.parent == out and path.suffix in RECORDED:
                inside = path.is_relative_to(workspace.folder(run_id))
                workspace.add_artefact(run_id, "report", path if inside else path.absolute())
    progress("Done", total, total)
    return written


def preview_pages(
    workspace: Workspace,
    run_id: int,
    sections: Iterable[str],
    title: str = "",
    notes: str = "",
    *,
    dpi: float = 96,
    progress: Callable[[str, int, int], None] = lambda text, done, total: None,
    each: Callable[[int, int, np.ndarray], None],
) -> None:
    """Paint the pages of the PDF for the window, first page first.

    Args:
        dpi: pixels of an inch of the A4 page.
        progress: told before each step; may raise Cancelled.
        each: gets (page from 0, pages, uint8 [h, w, 4]).

    Raises:
        Problem: there is no such run or section.
    """
    from workbench.reports import figures, gather, pdf

    chosen = _known(sections, SECTIONS, "section")
    progress("Reading the run", 0, 0)
    said = gather.gather(workspace, run_id, chosen, title, notes)
    progress("Laying out pages", 0, 0)

    def painted(place: int, pages: int, image: np.ndarray) -> None:
        progress("Painting pages", place, pages)
        each(place, pages, image)

    pdf.preview(said, figures.draw(said), dpi, painted)


def _known(given: Iterable[str], known: Iterable[str], word: str) -> tuple[str, ...]:
    chosen, names = tuple(dict.fromkeys(given)), tuple(known)
    unknown = [each for each in chosen if each not in names]
    if unknown:
        raise Problem(f"There is no {word} {unknown[0]!r} of a report.", todo=f"Known: {', '.join(names)}.")
    return chosen


def _made(kind: str, said: "Content", drawn: "dict[str, Drawing]", workspace: Workspace) -> dict[str, bytes]:
    """The files of one format by their names; "/" for folders."""
    from workbench.reports import figures, html, latex, pdf, tables

    match kind:
        case "html":
            return {"report.html": html.page(said, drawn).encode()}
        case "pdf":
            return {"report.pdf": pdf.encode(said, drawn)}
        case "latex":
            places = {name: f"figures/{name}.pdf" for name in drawn}
            text = latex.document(said, drawn, places).encode()
            encoded = {places[name]: figures.encode(drawing, "pdf") for name, drawing in drawn.items()}
            return {"report.tex": text, **encoded}
        case "csv":
            return {name: text.encode() for name, text in tables.csv_tables(said, workspace).items()}
        case _:
            endings: tuple[figures.Format, ...] = ("svg", "pdf", "png")
            return {
                f"figures/{name}.{ending}": figures.encode(drawing, ending)
                for name, drawing in drawn.items()
                for ending in endings
            }


def _write(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise files.explain(error, path) from error
    with files.atomic_write(path) as file:
        file.write(data)
    return path
