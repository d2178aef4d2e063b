"""The state of the Compare page without widgets: metric, evaluation, baseline, warnings and the two groups."""

from collections.abc import Collection, Sequence

from workbench.comparing.comparison_text import at_title
from workbench.comparing.difference.baseline import BaselineRow, usual_metrics
from workbench.comparing.grouping.groups import Group
from workbench.comparing.measures import BEST, LAST, At
from workbench.comparing.overview import Overview
from workbench.comparing.queries.overlap import PairOfRuns
from workbench.comparing.queries.pairing import Comparison
from workbench.entries.catalog import Catalog
from workbench.ui.models.run_words import fits
from workbench.ui.pages.compare.model.reading import PairAnswer, PairQuestion, Question, RowsQuestion
from workbench.ui.style.words import counted, own_keys
from workbench.workspace.rows import Run
from workbench.workspace.run_names import data_title
from workbench.workspace.run_search import why_unmet, words_of

MAP_AT_R = "MAP@R"
TICK_TWO = own_keys(
    "Tick runs in the list of runs to compare them: click a box, or press Space in a row. Shift+click ticks all "
    "rows in between, Ctrl+A ticks the whole list. Runs of one config that differ only in seed or fold are one group."
)
ONE_RUN = (
    "There is one run so far. Tick it in the list of runs to read its numbers; to compare, train a run with another "
    "config first."
)
SECOND = "Tick a run of another config to compare."
NO_SECOND = "There is one group so far. To compare, train a run with another config first."
SEARCHED_SECOND = "Only one group matches the search: clear it, or tick a matching run of another config."
SAME_GROUP = "Choose two different groups."
NO_PAIRS = "The groups have no seed in common, so no two of their runs can be compared query by query."


class CompareModel:
    """What is known about the ticked runs. It emits no signals: its caller redraws the page."""

    def __init__(self) -> None:
        self.known: Catalog = {}  # the entries, with their names
        self._all_ticked = False  # whether every run of the list is ticked
        self._words: list[str] = []  # of the search
        self.left_out = 0  # ticked runs that the search leaves out
        self.metric = MAP_AT_R  # as shown
        self.at: At = BEST  # as shown
        self._wanted: tuple[str, At] = (MAP_AT_R, BEST)  # as chosen: shown again when the ticked runs have it
        self.overview: Overview | None = None  # of the ticked runs, once it is read
        self.pair: PairAnswer | None = None  # of the two chosen groups, once they are compared
        self.shown_metrics: list[str] = []  # columns of the table, the chosen metric first
        self._chosen_metrics: list[str] | None = None  # columns that a user ticked
        self._titles = ("", "")  # of the baseline and of the group that is compared with it
        self._rows: tuple[RowsQuestion, list[BaselineRow]] | None = None  # as computed last
        self._data = ""  # names of the data sets of the ticked runs

    @staticmethod
    def nothing_ticked(count: int) -> str:
        """What the user can do while no run is ticked; `count` is the number of runs in the list."""
        return ONE_RUN if count == 1 else TICK_TWO

    # Results

    def question(self, runs: Sequence[Run], ticked: Collection[int]) -> Question | None:
        """The request for the ticked runs among these that the search leaves.

        Without any it is None, and the model forgets the last ones.
        """
        all_chosen = [run for run in runs if run.id in ticked]
        chosen = tuple(filter(self.fits, all_chosen))
        self._all_ticked = len(all_chosen) == len(runs)
        self.left_out = len(all_chosen) - len(chosen)
        if not chosen:
            self.overview = self.pair = None
            return None
        return Question(chosen, *self._wanted)

    def search(self, text: str) -> None:
        """Compare only the ticked runs with these words, or that meet them as conditions, as in the list of runs."""
        self._words = words_of(text)

    def left_out_by(self, runs: Sequence[Run]) -> str:
        """A sentence, after a blank, on a condition of the search that none of the runs can meet; empty without one."""
        return why_unmet(runs, self._words)

    def fits(self, run: Run) -> bool:
        """Whether the search leaves a run."""
        return fits(run, self._words, self.known)

    def choose_numbers(self, metric: str, at: At) -> None:
        """Choose the metric and the evaluation; a box left as shown keeps what was chosen before."""
        before, place = self._wanted
        self._wanted = (before if metric == self.metric else metric, place if at == self.at else at)

    def take_overview(self, read: Overview) -> None:
        """Take what was read, with its metric and evaluation; the chosen groups stay if they are in it."""
        self.overview, self.pair, self._rows = read, None, None
        self._data = self._data_of(read)
        self.metric, self.at = read.metric, read.at
        titles = [group.title for group in read.groups]
        if not set(self._titles) <= set(titles) or self._titles[0] == self._titles[1]:
            kept = self._titles[0] if self._titles[0] in titles else titles[0]
            self._titles = kept, next((title for title in titles if title != kept), kept)
        chosen = [name for name in self._chosen_metrics or () if name in read.metrics and name != self.metric]
        self.shown_metrics = usual_metrics(read) if self._chosen_metrics is None else [self.metric, *chosen]

    def show_metrics(self, names: Sequence[str]) -> None:
        """Choose the metrics that have a column, after the chosen metric, which always has one."""
        self._chosen_metrics = list(names)
        self.shown_metrics = [self.metric, *(name for name in names if name != self.metric)]

    @property
    def summary(self) -> str:
        """Counts and names of the data sets, "2 groups, 6 runs on Digits", and how many runs the search leaves out."""
        if self.overview is None:
            return ""
        groups, runs = self.overview.groups, self.overview.measured
        counts = f"{counted(len(groups), 'group')}, {counted(len(runs), 'run')}"
        left_out = f"; the search leaves out {counted(self.left_out, 'ticked run')}" if self.left_out else ""
        return f"{counts} on {self._data}{left_out}" if self._data else f"{counts}{left_out}"

    def _data_of(self, read: Overview) -> str:
        """The names of the data sets, in order; runs of one group have the same."""
        first = [group.runs[0] for group in read.groups]
        return ", ".join(sorted({data_title(self.known, run) for run in first if run.dataset}))

    @property
    def warnings(self) -> list[str]:
        """Sentences on what makes the comparison unequal or incomplete, the most important first."""
        return [] if self.overview is None else self.overview.warnings

    @property
    def metric_choices(self) -> list[str]:
        """Metrics that any ticked run has."""
        return [] if self.overview is None else list(self.overview.metrics)

    @property
    def at_choices(self) -> list[tuple[str, At]]:
        """Evaluations that can be compared, with their titles: best, last and each epoch that all runs have."""
        epochs = () if self.overview is None else self.overview.epochs
        return [
            *((at_title(at), at) for at in (BEST, LAST)),
            *((f"{at_title(epoch)}, of all runs", epoch) for epoch in epochs),
        ]

    def rows_question(self) -> RowsQuestion | None:
        """The request for the rows of the table; None while nothing is compared."""
        baseline = self.baseline
        if self.overview is None or baseline is None:
            return None
        return RowsQuestion(self.overview, baseline, tuple(self.shown_metrics))

    def take_rows(self, question: RowsQuestion, rows: list[BaselineRow]) -> None:
        """Take the answer to such a request; one about other groups or columns than the current ones is not used."""
        self._rows = question, rows

    @property
    def has_rows(self) -> bool:
        """Whether `rows` need not be computed."""
        question = self.rows_question()
        return question is None or (self._rows is not None and self._rows[0] == question)

    @property
    def rows(self) -> list[BaselineRow]:
        """The table: the baseline first, then the other groups with their differences from it."""
        question = self.rows_question()
        if question is None:
            return []
        if self._rows is None or self._rows[0] != question:
            self._rows = question, question.answer()
        return self._rows[1]

    # Two groups

    @property
    def baseline(self) -> Group | None:
        """The group that the others are compared with."""
        return self._group(self._titles[0])

    @property
    def other(self) -> Group | None:
        """The group that is compared with the baseline, query by query; the baseline itself if it is the only group."""
        return self._group(self._titles[1])

    def choose_baseline(self, title: str) -> None:
        """Choose another baseline; if it was the other group, the two are swapped."""
        before, other = self._titles
        self._titles, self.pair = (title, before if title == other else other), None

    def choose_other(self, title: str) -> None:
        """Choose another group to compare with the baseline."""
        self._titles, self.pair = (self._titles[0], title), None

    def swap(self) -> None:
        """Swap baseline and other group."""
        self._titles, self.pair = (self._titles[1], self._titles[0]), None

    def pair_question(self) -> PairQuestion | None:
        """The two groups to compare; None unless two different groups are chosen (`pair_hint` says why)."""
        self.pair = None
        baseline, other = self.baseline, self.other
        if self.overview is None or baseline is None or other is None or baseline is other:
            return None
        return PairQuestion(self.overview, baseline, other)

    @property
    def pair_hint(self) -> str:
        """Why there are no two groups to compare."""
        if self.overview is not None and len(self.overview.groups) > 1:
            return SAME_GROUP
        if self.left_out:
            return SEARCHED_SECOND
        return NO_SECOND if self._all_ticked else SECOND

    @property
    def comparison(self) -> Comparison | None:
        """The comparison of the two groups; None before it is computed."""
        return None if self.pair is None else self.pair.comparison

    @property
    def queries_hint(self) -> str:
        """Why the compared groups have no list of queries; empty if they have one."""
        comparison = self.comparison
        return "" if comparison is None or comparison.queries is not None else " ".join(comparison.notes)

    def paired_runs(self) -> list[PairOfRuns]:
        """The runs of each seed of the two groups with the evaluations that were compared."""
        if self.overview is None or self.comparison is None:
            return []
        pairs = []
        for seed in self.comparison.seeds:
            first, second = (self.evaluation_of(run) for run in (seed.first_run, seed.second_run))
            if first is not None and second is not None:
                pairs.append(PairOfRuns(seed.first_run, seed.second_run, first, second))
        return pairs

    def evaluation_of(self, run: int) -> int | None:
        """The evaluation of a ticked run that is compared; None if it has none there, or did not keep it."""
        evaluation = None if self.overview is None else self.overview.measured[run].at(self.overview.at)
        return None if evaluation is None or not evaluation.kept else evaluation.id

    @property
    def dataset_id(self) -> int | None:
        """The data set of the compared queries."""
        runs = () if self.comparison is None else self.comparison.first.runs
        return next((run.dataset_id for run in runs if run.dataset_id is not None), None)

    def _group(self, title: str) -> Group | None:
        groups = () if self.overview is None else self.overview.groups
        return next((group for group in groups if group.title == title), None)
