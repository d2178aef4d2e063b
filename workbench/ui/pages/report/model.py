"""The Report page without its widgets: the runs, the requested report, and the files that were written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.comparing.measures import BEST, At, common_epochs, metric_names, read_measures
from workbench.reports.templates import Template, offered
from workbench.ui.style.words import counted
from workbench.workspace import Workspace
from workbench.workspace.choices.report_templates import arrangements, choice
from workbench.workspace.rows import Run

COMPARISON = 0  # no run has this number
AT_FIRST = 24  # runs of a comparison before any are chosen
NAMED = 4  # runs of a comparison that a sentence names


@dataclass(frozen=True, slots=True)
class Stored:
    """The page's state in the workspace: every template as it is arranged, and the last choices."""

    templates: dict[str, Template]
    template: str  # key of the chosen one; empty before the first
    runs: tuple[int, ...]
    numbers: tuple[str, At] | None  # metric and evaluation


def read_stored(workspace: Workspace) -> Stored:
    """Read templates and choices; not on the window's thread."""
    chosen = choice(workspace)
    numbers = (str(chosen["metric"]), chosen["at"]) if "metric" in chosen else None
    runs = tuple(int(number) for number in chosen.get("runs", ()))
    return Stored(offered(arrangements(workspace)), str(chosen.get("template", "")), runs, numbers)


def offered_numbers(workspace: Workspace, runs: Sequence[Run]) -> tuple[list[str], list[int]]:
    """Metrics that any of the runs has, and epochs that all have; not on the window's thread."""
    measured = read_measures(workspace, runs).values()
    return metric_names(measured), common_epochs(measured)


class ReportModel:
    """The runs of a report and the state of its files. It notifies nobody: the caller redraws."""

    def __init__(self) -> None:
        self.known: Sequence[Run] = ()  # all runs, newest first
        self.shown: Run | None = None  # the run that the window shows
        self.many = False  # whether the template is about several runs
        self.chosen: list[int] = []  # runs that a user chose on this page for a comparison
        self.ticked: frozenset[int] = frozenset()  # in the list of runs
        self.written: list[Path] = []  # files of the last export
        self.sections: dict[str, int] = {}  # the page of the preview on which each section begins

    @property
    def runs(self) -> list[int]:
        """Runs that the report is about: the shown one.

        For a comparison those chosen on the page; else those ticked in the list, if several; else those of its data.
        """
        if self.shown is None:
            return []
        if not self.many:
            return [self.shown.id]
        there = {run.id for run in self.known}
        kept = [number for number in self.chosen if number in there]
        if not kept and len(ticked := sorted(self.ticked & there)) > 1:
            return ticked
        alike = [run.id for run in self.known if run.dataset == self.shown.dataset][:AT_FIRST]
        return kept or sorted({self.shown.id, *alike})

    def choose(self, runs: Sequence[int]) -> None:
        """Take other runs for a comparison; those chosen before keep their places, for the first is the baseline."""
        self.chosen = [*(run for run in self.chosen if run in runs), *sorted(set(runs) - set(self.chosen))]

    def follow(self) -> None:
        """Take the runs that are ticked in the list again, instead of those chosen for a comparison."""
        self.chosen = []

    @property
    def chosen_here(self) -> bool:
        """Whether the runs of a comparison are those that were chosen on the page, whatever is ticked in the list."""
        return self.many and any(run.id in self.chosen for run in self.known)

    @property
    def subject(self) -> int | None:
        """What a title is about: the number of the reported run; COMPARISON for several, None without a run."""
        if self.shown is None:
            return None
        return COMPARISON if self.many else self.shown.id

    @property
    def runs_text(self) -> str:
        """ "2 of 14 runs", "2 of 14 runs, chosen here"."""
        return f"{len(self.runs):,} of {len(self.known):,} runs{', chosen here' * self.chosen_here}"

    @property
    def left_out(self) -> str:
        """That a comparison is not about the shown run; empty where it is."""
        runs = self.runs
        if self.shown is None or self.shown.id in runs:
            return ""
        named = ", ".join(str(number) for number in runs[:NAMED])
        more = f" and {len(runs) - NAMED:,} more" if len(runs) > NAMED else ""
        word = "run" if len(runs) == 1 else "runs"
        return f"This report is about {word} {named}{more}, not about the selected run {self.shown.id}."

    @property
    def usual_title(self) -> str:
        """The title of the report if the user gives none."""
        if self.shown is None:
            return ""
        runs = self.runs
        if len(runs) > 1:
            return f"Comparison of {len(runs):,} runs"
        return next((run.name for run in self.known if run.id in runs), self.shown.name)

    def request(
        self, numbers: tuple[str, At], sections: Sequence[str], title: str, notes: str, paper: str
    ) -> dict[str, Any]:
        """The request to the drawing process.

        Args:
            numbers: metric and evaluation of a comparison; one run is shown at its best.
            sections: ticked, in their order. notes: Markdown.
            paper: of the PDF.
        """
        metric, at = numbers
        return {
            "runs": self.runs,
            "metric": metric,
            "at": at if self.many else BEST,
            "sections": list(sections),
            "title": title.strip(),
            "notes": notes.strip(),
            "paper": paper,
        }

    def why_no_export(self, formats: Sequence[str], folder: str) -> str:
        """What is missing before files can be written; empty if nothing is."""
        if self.shown is None:
            return "Choose a run first"
        if not formats:
            return "Tick a format first"
        return "" if folder.strip() else "Name a folder first"

    @property
    def written_text(self) -> str:
        """How many files were written and where; empty before the first export."""
        return f"✓ {counted(len(self.written), 'file')} in {self.written[0].parent}" if self.written else ""


def preview_text(shown: int, total: int) -> str:
    """A sentence that the preview leaves out pages; empty if it shows all."""
    return f"The first {shown} of {total} pages; the files contain all of them." if total > shown else ""
