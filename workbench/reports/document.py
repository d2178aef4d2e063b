"""Builds a document from a request: reads the runs and writes every section, in order."""

from dataclasses import dataclass

from workbench.comparing.measures import BEST, At
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.reports.content.entry_titles import moment
from workbench.reports.content.gathering import gather
from workbench.reports.content.group_content import GroupContent, gather_groups
from workbench.reports.content.run_content import Content
from workbench.reports.figures import group_figures
from workbench.reports.figures import run_figures as figures
from workbench.reports.figures.drawing import Drawing
from workbench.reports.figures.robustness_figure import robustness_drawings
from workbench.reports.figures.similarity_figure import similarity_drawings
from workbench.reports.sections import GROUP_SECTIONS, METRIC, ONE_RUN, PAPER, PAPERS, RUN_SECTIONS, SECTIONS
from workbench.reports.templates import check_sections
from workbench.reports.writing.blocks import Block, Document, Section
from workbench.reports.writing.fair_blocks import fair_drawings
from workbench.reports.writing.group_sections import group_blocks
from workbench.reports.writing.headline import headline
from workbench.reports.writing.markdown import blocks_of
from workbench.reports.writing.run_sections import default_settings, section_blocks
from workbench.workspace import Workspace
from workbench.workspace.rows import Run


@dataclass(frozen=True, slots=True)
class Wish:
    """The contents of a report.

    Args:
        runs: their numbers; sections of one run are about the first.
        sections: of SECTIONS, in their order.
        title: the first run's name when empty, or "Comparison of … runs".
        notes: own text (Markdown); the first run's note when empty.
        metric: the number that a comparison is about.
        at: which evaluation of each run: "best", "last" or an epoch.
        paper: size of the PDF's pages, of PAPERS.
    """

    runs: tuple[int, ...]
    sections: tuple[str, ...] = ONE_RUN
    title: str = ""
    notes: str = ""
    metric: str = METRIC
    at: At = BEST
    paper: str = PAPER

    def check(self) -> None:
        """Raises Problem when a section or the paper is not known, or there is no run."""
        check_sections(self.sections)
        if self.paper not in PAPERS:
            raise Problem(f"There is no paper {self.paper!r} of a report.", todo=f"Known: {', '.join(PAPERS)}.")
        if not self.runs:
            raise Problem("No run is chosen.", todo="Choose one or more.")


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A document, with what its tables are written from."""

    document: Document
    runs: tuple[Run, ...]
    content: Content  # of the first run
    groups: GroupContent | None  # None if no section is about groups
    notes: str  # the own text that it says, Markdown; empty without the section
    paper: str  # of PAPERS


def make(workspace: Workspace, wish: Wish, progress: Progress) -> Made:
    """Read the runs and write the document. Takes seconds: not on the window's thread.

    Raises:
        Problem: an unknown section, a run that is not there, or a metric or epoch that no run has.
    """
    wish.check()
    runs = tuple(workspace.run(number) for number in dict.fromkeys(wish.runs))
    of_run = tuple(key for key in wish.sections if key in RUN_SECTIONS)
    of_groups = tuple(key for key in wish.sections if key in GROUP_SECTIONS)
    title = wish.title or (runs[0].name if len(runs) == 1 else f"Comparison of {len(runs):,} runs")
    content = gather(workspace, runs[0].id, of_run, title, wish.at, progress)
    drawn: dict[str, Drawing] = figures.draw(content) | robustness_drawings(content.robustness)
    groups = None
    if of_groups:
        groups = gather_groups(workspace, runs, of_groups, wish.metric, wish.at, progress)
        drawn |= group_figures.draw(groups.overview, of_groups) | fair_drawings(groups.fair)
        drawn |= similarity_drawings(groups.similarity)
    notes = (wish.notes or (runs[0].note if len(runs) == 1 else "")) if "notes" in wish.sections else ""
    sections = []
    for key in wish.sections:
        blocks: list[Block] | tuple[Block, ...]
        if key == "notes":
            blocks = blocks_of(notes)
        elif key in RUN_SECTIONS:
            blocks = section_blocks(key, content)
        elif groups is not None:
            blocks = group_blocks(key, groups, drawn)
        if blocks:
            named = f"{SECTIONS[key]} (run {runs[0].id})" if key in RUN_SECTIONS and len(runs) > 1 else SECTIONS[key]
            sections.append(Section(key, named, tuple(blocks)))
    if "settings" in of_run and (rest := default_settings(content)):
        sections.append(Section("default-settings", "Appendix: settings at their defaults", (rest,)))
    tiles = headline(content, None if groups is None else groups.overview, wish.sections)
    document = Document(title, _subtitle(runs), tuple(sections), drawn, tiles)
    return Made(document, runs, content, groups, notes, wish.paper)


def _subtitle(runs: tuple[Run, ...]) -> str:
    if len(runs) == 1:
        return f"Workbench report of run {runs[0].id}, {moment(runs[0].created)}"
    shown = ", ".join(str(run.id) for run in runs[:12])
    rest = f" and {len(runs) - 12} more" if len(runs) > 12 else ""
    created = sorted(run.created for run in runs)
    return f"Workbench report of runs {shown}{rest}, {moment(created[0])} to {moment(created[-1])}"
