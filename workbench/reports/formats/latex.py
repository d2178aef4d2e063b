"""A document as LaTeX: booktabs tables, figures at column width, and text of which no letter is a command."""

import re
from collections.abc import Sequence

from workbench.numerals import RAISED
from workbench.reports.figures.drawing import COLUMN, FULL
from workbench.reports.writing.blocks import (
    Block,
    Bullets,
    Cards,
    Code,
    Document,
    Heading,
    Paragraph,
    Plot,
    Span,
    Table,
)

ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    # After the end of a row TeX takes these for an option or a star.
    "[": "{[}", "]": "{]}", "*": "{*}",
    "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "•": r"\textbullet{}",
    "\u00a0": "~", "×": r"\ensuremath{\times}", "±": r"\ensuremath{\pm}", "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}", "≈": r"\ensuremath{\approx}", "≠": r"\ensuremath{\neq}",
    "→": r"\ensuremath{\rightarrow}", "←": r"\ensuremath{\leftarrow}", "↑": r"\ensuremath{\uparrow}",
    "↓": r"\ensuremath{\downarrow}", "∞": r"\ensuremath{\infty}", "√": r"\ensuremath{\surd}",
    "★": r"\ensuremath{\star}", "☆": r"\ensuremath{\star}", "✓": r"\ensuremath{\surd}", "✔": r"\ensuremath{\surd}",
    "✗": r"\ensuremath{\times}", "✘": r"\ensuremath{\times}", "●": r"\textbullet{}", "‖": r"\ensuremath{\Vert}",
    "′": r"\ensuremath{\prime}", "⁺": r"\ensuremath{^+}",
    **{chr(0x2080 + number): rf"\ensuremath{{_{number}}}" for number in range(10)},  # of a symbol, as in β₂
    **{letter: rf"\ensuremath{{\{name}}}" for letter, name in zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ",
        ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
         "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta",
         "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"), strict=True)},
    **{chr(letter): rf"\ensuremath{{^{chr(plain)}}}" for plain, letter in RAISED.items()},  # of a power of ten
}  # fmt: skip
TYPESET = set(map(chr, range(0x20, 0x7F))) | set(  # what LaTeX sets with the fonts of every installation
    "¡¿«»§©®°µ¶·¹²³¼½¾ªº£¥¢ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"
    "ĄąĆćČčĎďĐđĘęĚěĞğİıŁłŃńŇňŐőŒœŔŕŘřŚśŞşŠšŤťŮůŰűŸŹźŻżŽž"
)
LIGATURES = re.compile("(?<=[-',?!–—‘’“”])(?=[-',`–—‘’“”])")
LONG_WORD = re.compile(r"\S{24,}")
MOST_ROWS = 36  # of a table that floats; longer ones break over pages
LETTER = 0.068  # inches of a letter of a table, on average
GAP = 0.17  # inches between columns
DEEPEST = 4  # lists in lists that LaTeX can number

PREAMBLE = rf"""% Needs \usepackage[T1]{{fontenc}}, textcomp, array, booktabs, longtable and graphicx.
% Figures were drawn {COLUMN} inches wide; for another width say \newcommand{{\wbcolumn}}{{\columnwidth}} before.
\providecommand{{\wbcolumn}}{{{COLUMN}in}}
% A table of several pages cannot be set in two columns: it gets pages of one.
\makeatletter
\providecommand{{\wblong}}{{\if@twocolumn\onecolumn\let\wbafter\twocolumn\else\let\wbafter\relax\fi}}
\makeatother
% A character that the engine or its font cannot set is printed as its number. XeTeX and LuaTeX ask the font.
\ifdefined\wbunicode\else
  \def\wbnumber#1{{{{[}}U+#1{{]}}\allowbreak}}
  \ifdefined\directlua
    \protected\def\wbunicode#1#2{{\iffontchar\font`#2 #2\allowbreak\else\wbnumber{{#1}}\fi}}
  \else\ifdefined\XeTeXversion
    \protected\def\wbunicode#1#2{{\iffontchar\font`#2 #2\allowbreak\else\wbnumber{{#1}}\fi}}
  \else
    \def\wbunicode#1#2{{\wbnumber{{#1}}}}
  \fi\fi
\fi
"""

MAIN = rf"""\documentclass[10pt]{{article}}
\usepackage{{iftex}}
\ifPDFTeX
  \usepackage[utf8]{{inputenc}}
  \usepackage[T1]{{fontenc}}
  \IfFileExists{{lmodern.sty}}{{\usepackage{{lmodern}}}}{{}}
\else
  \usepackage{{fontspec}}
\fi
\usepackage{{textcomp,array,booktabs,longtable,graphicx}}
\usepackage[a4paper,textwidth={FULL}in,textheight=10in]{{geometry}}
\extrafloats{{200}}
\setlength{{\emergencystretch}}{{3em}}
\begin{{document}}
\input{{report.tex}}
\end{{document}}
"""


def escaped(text: str) -> str:
    """Text as TeX shows it, whatever is in it: no letter is a command, a comment, an option or part of a ligature."""
    parts = LIGATURES.split(text)
    return "{}".join("".join(map(_letter, part)) for part in parts)


def _letter(letter: str) -> str:
    if letter in ESCAPED:
        return ESCAPED[letter]
    if letter in TYPESET:
        return letter
    if not letter.isprintable():
        return " "
    return rf"\wbunicode{{{ord(letter):04X}}}{{{letter}}}"


def fragment(document: Document, files: dict[str, str]) -> str:
    """The report to be read into a paper; `files` are the figures' places by name."""
    writer = _Writer(document, files)
    lines = [PREAMBLE, rf"\section*{{{escaped(document.title)}}}", escaped(document.subtitle), ""]
    for section in document.sections:
        lines += [rf"\section{{{escaped(section.title)}}}", rf"\label{{sec:{section.key}}}", ""]
        for block in section.blocks:
            lines += writer.block(block)
    return "\n".join([*lines, r"\clearpage"]) + "\n"


def spans(parts: Sequence[Span]) -> str:
    """A line with its styles; a link's address follows it in brackets."""
    pieces = []
    for index, span in enumerate(parts):
        words = escaped(span.text)
        match span.style:
            case "strong":
                words = rf"\textbf{{{words}}}"
            case "em":
                words = rf"\emph{{{words}}}"
            case "code":
                words = rf"\texttt{{{_breakable(span.text)}}}"
        last = index + 1 == len(parts) or parts[index + 1].link != span.link
        if span.link and last and span.link != span.text:
            words += rf" (\texttt{{{_breakable(span.link)}}})"
        pieces.append(words)
    return "".join(pieces)


class _Writer:
    def __init__(self, document: Document, files: dict[str, str]) -> None:
        self._document, self._files = document, files

    def block(self, block: Block, depth: int = 0) -> list[str]:
        match block:
            case Heading():
                kind = ("subsection", "subsubsection", "paragraph")[block.level - 1]
                return [rf"\{kind}{{{spans(block.spans)}}}", ""]
            case Paragraph():
                return [spans(block.spans), ""]
            case Code():
                return [
                    r"\begin{flushleft}\ttfamily\small",
                    *map(_code_line, block.text.split("\n")),
                    r"\end{flushleft}",
                ]
            case Bullets():
                return self._list(block, depth)
            case Table():
                return _table_lines(block)
            case Plot():
                return self._figure(block.name, block.caption)
            case Cards():
                return self._figure(block.name, f"{block.title}: queries (left) and their nearest neighbours.")

    def _list(self, block: Bullets, depth: int) -> list[str]:
        inside = [[line for part in item for line in self.block(part, depth + 1)] for item in block.items]
        if depth >= DEEPEST:
            return [line for item in inside for line in item]
        kind = "enumerate" if block.ordered else "itemize"
        lines = [rf"\begin{{{kind}}}"]
        if block.ordered and block.first != 1:
            lines.append(rf"\makeatletter\setcounter{{\@enumctr}}{{{block.first - 1}}}\makeatother")
        for item in inside:
            lines += [r"\item{}", *item]
        return [*lines, rf"\end{{{kind}}}", ""]

    def _figure(self, name: str, caption: str) -> list[str]:
        wide = self._document.drawings[name].wide
        kind, width = ("figure*", r"\textwidth") if wide else ("figure", r"\wbcolumn")
        return [
            rf"\begin{{{kind}}}[!htbp]", r"  \centering",
            rf"  \includegraphics[width={width}]{{{self._files[name]}}}",
            rf"  \caption{{{escaped(caption)}}}", rf"  \label{{fig:{name}}}", rf"\end{{{kind}}}", "",
        ]  # fmt: skip


def fitted(natural: Sequence[float], room: float) -> list[float]:
    """Widths that fit into the room: where that is too little the widest give way, alike."""
    if sum(natural) <= room:
        return list(natural)
    low, high = 0.0, max(natural)
    for _ in range(40):  # the width over which columns are cut
        most = (low + high) / 2
        low, high = (most, high) if sum(min(width, most) for width in natural) <= room else (low, most)
    return [min(width, low) for width in natural]


def _table_lines(table: Table) -> list[str]:
    natural = [LETTER * max(map(len, column)) + 0.02 for column in zip(table.head, *table.rows, strict=True)]
    widths = fitted(natural, FULL - GAP * len(natural))
    cut = [width < wanted for wanted, width in zip(natural, widths, strict=True)]
    form = "".join(_column(at in table.numbers, cut[at], width) for at, width in enumerate(widths))
    head = " & ".join(_cell(cell, cut[at]) for at, cell in enumerate(table.head)) + r" \\"
    rows = []
    for number, row in enumerate(table.rows):
        cells = [_cell(cell, cut[at]) for at, cell in enumerate(row)]
        rows.append(" & ".join(rf"\textbf{{{cell}}}" if number in table.strong else cell for cell in cells) + r" \\")
    caption = rf"\caption{{{escaped(table.caption)}}}\label{{tab:{table.key}}}"
    if len(rows) > MOST_ROWS:
        titled = [rf"{caption} \\"] if table.caption else []
        above = [r"\toprule", head, r"\midrule"]
        first = [rf"\begin{{longtable}}{{{form}}}", *titled, *above, r"\endfirsthead", *above, r"\endhead"]
        return [r"{\wblong\small", *first, r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}", r"\wbafter}", ""]
    body = [rf"  \begin{{tabular}}{{{form}}}", r"    \toprule", f"    {head}", r"    \midrule"]
    body += [f"    {row}" for row in rows] + [r"    \bottomrule", r"  \end{tabular}"]
    if not table.caption:
        return [r"\begin{center}\small", *body, r"\end{center}", ""]
    kind = "table*" if sum(widths) + GAP * len(widths) > COLUMN else "table"  # both are alike in one column
    return [rf"\begin{{{kind}}}[!htbp]", r"  \centering\small", f"  {caption}", *body, rf"\end{{{kind}}}", ""]


def _column(number: bool, cut: bool, width: float) -> str:
    if not cut:
        return "r" if number else "l"
    ragged = r"\raggedleft" if number else r"\raggedright"
    return rf">{{{ragged}\arraybackslash}}p{{{width:.2f}in}}"


def _cell(text: str, cut: bool) -> str:
    return _breakable(text) if cut else escaped(text)


def _breakable(text: str) -> str:
    """Text whose long words may end a line anywhere, without a hyphen."""
    parts, end = [], 0
    for match in LONG_WORD.finditer(text):
        parts.append(escaped(text[end : match.start()]))
        pieces = [match[0][at : at + 6] for at in range(0, len(match[0]), 6)]
        parts.append(r"\allowbreak{}".join(map(escaped, pieces)))
        end = match.end()
    return "".join(parts) + escaped(text[end:])


def _code_line(line: str) -> str:
    blank = "\\ "
    return rf"\noindent\mbox{{}}{blank.join(map(escaped, line.split(' ')))}\par"
