"""The report for a paper: booktabs tables and figures, safe with any name."""

from collections.abc import Sequence

from workbench.reports.content import NO_EVALUATION, Content, interval, percent
from workbench.reports.figures import COLUMN, Drawing

ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", "–": "--",
    "…": r"\ldots{}", "✓": "tick", "✗": "cross", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
}  # fmt: skip


def escape(text: str) -> str:
    """Text as TeX shows it, whatever is in it; line ends and controls are spaces."""
    return "".join(ESCAPED.get(letter, letter if letter.isprintable() else " ") for letter in text)


def document(content: Content, drawn: dict[str, Drawing], files: dict[str, str]) -> str:
    """A fragment to be put in with \\input: what the sections say, with figures from `files`, by name."""
    lines = [
        "% Needs \\usepackage{booktabs}, \\usepackage{graphicx}, \\usepackage{textcomp} and \\usepackage[T1]{fontenc};",
        "% names in other scripts need XeLaTeX or LuaLaTeX.",
        f"% {escape(content.title)}. {escape(content.subtitle)}.",
        "",
    ]
    if content.notes:
        lines += [rf"\paragraph{{Notes.}} {escape(content.notes)}", ""]
    for section in content.sections:
        match section:
            case "summary":
                lines += [rf"\paragraph{{Summary.}} {escape(' '.join(content.summary))}", ""]
            case "settings":
                lines += _settings(content)
            case "metrics":
                lines += _metrics(content)
            case "environment":
                said = "; ".join(f"{name}: {value}" for name, value in content.environment)
                lines += [rf"\paragraph{{Environment.}} {escape(said)}.", ""]
            case _:
                shown = {"curves": ("ce-spce", "retrieval", "loss"), "map": ("map",), "queries": ("worst", "best")}
                for name in shown[section]:
                    lines += _figure(content, drawn[name], files[name]) if name in drawn else []
    return "\n".join(lines)


def _metrics(content: Content) -> list[str]:
    if content.best is None or content.last is None:
        return [rf"\paragraph{{Retrieval metrics.}} {NO_EVALUATION}", ""]
    rows = [
        (row.name, percent(row.best), interval(row.low, row.high), percent(row.last),
         interval(row.last_low, row.last_high))
        for row in content.metrics
    ]  # fmt: skip
    heads = ("Metric", f"Best (epoch {content.best.epoch})", "95% interval", f"Last (epoch {content.last.epoch})")
    return _table("lrrrr", (*heads, "95% interval"), rows, f"{content.title}: retrieval. {content.metrics_note}")


def _settings(content: Content) -> list[str]:
    changed = [(f"{each.section}.{each.name}", each.value) for each in content.settings if each.changed]
    if not changed:
        return [r"\paragraph{Settings.} All are the defaults.", ""]
    return _table("ll", ("Setting", "Value"), changed, f"{content.title}: settings that differ from the defaults.")


def _table(columns: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], caption: str) -> list[str]:
    body = ["    " + " & ".join(escape(cell) for cell in row) + r" \\" for row in (heads, *rows)]
    return [
        r"\begin{table}[t]",
        r"  \centering",
        rf"  \caption{{{escape(caption)}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        body[0],
        r"    \midrule",
        *body[1:],
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
        "",
    ]


def _figure(content: Content, drawing: Drawing, file: str) -> list[str]:
    star = "" if drawing.width <= COLUMN else "*"  # over both columns
    return [
        rf"\begin{{figure{star}}}[t]",
        r"  \centering",
        rf"  \includegraphics[width=\linewidth]{{{file}}}",
        rf"  \caption{{{escape(f'{content.title}. {drawing.title}. {drawing.caption}')}}}",
        rf"\end{{figure{star}}}",
        "",
    ]
