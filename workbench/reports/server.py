"""The process that draws reports: `python -m workbench.reports.server`; serving.py tells how it speaks.

Drawing holds the interpreter for hundreds of milliseconds at a time, which a window of the same process would feel.
Ops: preview, write.
"""

from pathlib import Path

from workbench import files, reports, serving
from workbench.serving import Message, Ops, Report, field
from workbench.workspace import Workspace


def preview(request: Message, report: Report) -> Message:
    """Draw the pages of a run's report as PNG files into `out`: workspace, run, sections, title, notes, dpi."""
    out = Path(field(request, "out", str))
    with Workspace(field(request, "workspace", str)) as workspace:
        drawn = reports.preview_pages(
            workspace, field(request, "run", int), field(request, "sections", list), field(request, "title", str),
            field(request, "notes", str), field(request, "dpi", int), report,
        )  # fmt: skip
    pages = []
    for number, page in enumerate(drawn, start=1):
        path = out / f"page-{number}.png"
        with files.atomic_write(path) as file:
            file.write(page)
        pages.append(str(path))
    return {"pages": pages}


def write(request: Message, report: Report) -> Message:
    """Write a run's report into `out`: workspace, run, formats, sections, title, notes."""
    with Workspace(field(request, "workspace", str)) as workspace:
        written = reports.write_report(
            workspace, field(request, "run", int), Path(field(request, "out", str)), field(request, "formats", list),
            field(request, "sections", list), field(request, "title", str), field(request, "notes", str), report,
        )  # fmt: skip
    return {"files": [str(path) for path in written]}


OPS: Ops = {"preview": preview, "write": write}

if __name__ == "__main__":
    serving.run(OPS)
