"""The process that draws reports: `python -m workbench.reports.server`; jobs/serving.py describes its protocol.

Drawing holds the interpreter for hundreds of milliseconds at a time, which a window of the same process would feel.
Ops: preview, write. Both take: workspace, runs, sections, title, notes, metric, at, paper.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench import files, reports
from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.progress import Progress
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.reports.document import Wish


def preview(request: Message, progress: Progress) -> Message:
    """Draw the first pages of a report as PNG files into `out`, at `dpi`.

    Returns:
        The files as `pages`, the number of all pages as `total`, and as `sections` the page on which each begins.
    """
    out = Path(field(request, "out", str))
    with Workspace(field(request, "workspace", str)) as workspace:
        drawn = reports.preview_pages(workspace, _wish(request), field(request, "dpi", int), progress)
    pages = []
    for number, page in enumerate(drawn.pictures, start=1):
        path = out / f"page-{number}.png"
        with files.atomic_write(path) as file:
            file.write(page)
        pages.append(str(path))
    return {"pages": pages, "total": drawn.pages, "sections": drawn.sections}


def write(request: Message, progress: Progress) -> Message:
    """Write a report into `out`, in the `formats`; "bundle" among them is all of it as report.zip."""
    wish, out = _wish(request), Path(field(request, "out", str))
    formats = list(field(request, "formats", list))
    plain = [kind for kind in formats if kind != reports.BUNDLE]
    written: list[Path] = []
    with Workspace(field(request, "workspace", str)) as workspace:
        if plain:
            written += reports.write_report(
                workspace,
                wish.runs,
                out,
                plain,
                wish.sections,
                wish.title,
                wish.notes,
                progress,
                wish.metric,
                wish.at,
                wish.paper,
            )
        if reports.BUNDLE in formats:
            reports.write_bundle(workspace, wish, out / "report.zip", progress)
            written.append(out / "report.zip")
    return {"files": [str(path) for path in written]}


def _wish(request: Message) -> "Wish":
    return reports.wish_of(
        field(request, "runs", list), field(request, "sections", list), field(request, "title", str),
        field(request, "notes", str), field(request, "metric", str), request["at"],
        str(request.get("paper", reports.PAPER)),
    )  # fmt: skip


OPS: Ops = {"preview": preview, "write": write}

if __name__ == "__main__":
    serving.run(OPS)
