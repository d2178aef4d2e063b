"""Tables behind the report: CSV that a spreadsheet cannot run, and LaTeX that TeX cannot be led astray by."""

from typing import Any

from workbench.reports.content import Content, percent
from workbench.spreadsheet import csv_text
from workbench.workspace import Workspace

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "–": "--",
    "\n": " ", "\r": " ",
}  # fmt: skip


def csv_tables(content: Content, workspace: Workspace) -> dict[str, str]:
    """metrics.csv, scalars.csv, classes.csv, settings.csv and queries.csv, by name."""
    run_id = content.run.id
    scalars = [
        [name, step, value]
        for name in workspace.scalar_names(run_id)
        for step, value in zip(*(column.tolist() for column in workspace.scalars(run_id, name)), strict=True)
    ]
    metrics = [[row.name, row.best, row.low, row.high, row.last] for row in content.metrics]
    settings = [[each.section, each.name, each.value, "yes" if each.changed else "no"] for each in content.settings]
    return {
        "metrics.csv": csv_text(["metric", "best", "best_low_95", "best_high_95", "last"], metrics),
        "scalars.csv": csv_text(["name", "step", "value"], scalars),
        "classes.csv": csv_text(
            ["class", "queries", "map_at_r", "recall_at_1"],
            [[row.name, row.queries, row.map_at_r, row.recall_at_1] for row in content.classes],
        ),
        "settings.csv": csv_text(["section", "field", "value", "changed_from_default"], settings),
        "queries.csv": csv_text(
            ["sample_id", "path", "class", "ap", "first_hit", "r", "right"], _queries(content, workspace)
        ),
    }


def _queries(content: Content, workspace: Workspace) -> list[list[Any]]:
    if content.best is None:
        return []
    reader = workspace.reader()
    try:
        rows = reader.execute(
            'select sample_id, path, class, ap, first_hit, r, "right" from query_rows '
            "where evaluation_id = ? order by sample_id",
            (content.best.id,),
        ).fetchall()
    finally:
        reader.close()
    return [list(row) for row in rows]


def latex_escape(text: str) -> str:
    """Text as TeX shows it, whatever is in it."""
    return "".join(LATEX.get(character, character) for character in text)


def latex(content: Content, figure_files: dict[str, str]) -> str:
    """A LaTeX fragment: booktabs table of metrics, settings that differ, and figures at column width."""
    lines = [
        "% Needs \\usepackage{booktabs} and \\usepackage{graphicx}.",
        r"\begin{table}[t]",
        r"  \centering",
        rf"  \caption{{{latex_escape(content.title)}: retrieval on the test half, 95\% intervals over queries.}}",
        r"  \begin{tabular}{lrrr}",
        r"    \toprule",
        r"    Metric & Best & 95\% interval & Last \\",
        r"    \midrule",
    ]
    for row in content.metrics:
        interval = f"{percent(row.low)} to {percent(row.high)}" if row.low == row.low else "–"
        cells = (row.name, percent(row.best), interval, percent(row.last))
        lines.append("    " + " & ".join(latex_escape(cell) for cell in cells) + r" \\")
    lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}", ""]
    for name, file in figure_files.items():
        lines += [
            r"\begin{figure}[t]",
            r"  \centering",
            rf"  \includegraphics[width=\linewidth]{{{file}}}",
            rf"  \caption{{{latex_escape(content.title)}: {latex_escape(name)}.}}",
            r"\end{figure}",
            "",
        ]
    changed = "; ".join(f"{each.section}.{each.name} = {each.value}" for each in content.settings if each.changed)
    lines.append(rf"\paragraph{{Settings that differ from the defaults.}} {latex_escape(changed)}.")
    return "\n".join(lines) + "\n"
