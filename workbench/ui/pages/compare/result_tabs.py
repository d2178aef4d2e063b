"""The tabs of the Compare page: each is drawn when it is opened, and again when its content has changed."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QStackedWidget, QTabWidget, QWidget

from workbench.comparing.difference.baseline import BaselineRow
from workbench.comparing.grouping.groups import unlike_parts
from workbench.fair.stored import FairComparisons
from workbench.ui.pages.compare.cost.panel import CostPanel
from workbench.ui.pages.compare.curves.panel import CurvesPanel
from workbench.ui.pages.compare.difference.panel import DifferencePanel
from workbench.ui.pages.compare.fair.panel import FairPanel
from workbench.ui.pages.compare.model.compare_model import NO_PAIRS, CompareModel
from workbench.ui.pages.compare.papers import PapersPanel
from workbench.ui.pages.compare.queries.neighbour_overlap import NeighbourPanel
from workbench.ui.pages.compare.queries.panel import QueryDifferences
from workbench.ui.pages.compare.settings.panel import SettingsPanel
from workbench.ui.pages.compare.similarity.panel import SimilarityPanel
from workbench.ui.pages.compare.style.group_styles import GroupStyle, styles
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.state.session import Session
from workbench.ui.widgets.images.pictures import PictureLoader

LEAST = 240  # px, so that a tab can be read where the page scrolls


class ResultTabs(QTabWidget):
    """Draws the model's groups, and the two of them that are compared."""

    def __init__(self, session: Session, model: CompareModel, loader: PictureLoader, *, in_parts: bool = False) -> None:
        super().__init__()
        self._model = model
        self._rows: list[BaselineRow] = []
        self._ordered = False  # whether the user chose their order
        self._stale: set[QWidget] = set()  # tabs that do not show the model's current state
        self.making = begun(self._parts(session, loader), in_parts)

    def _parts(self, session: Session, loader: PictureLoader) -> Parts:
        place = self.findChild(QStackedWidget)  # a panel that came here later would be styled again, with all in it
        self.curves = CurvesPanel(session, place)
        yield
        self.difference = DifferencePanel(self._model, place)
        yield
        self.queries, self.neighbours = QueryDifferences(session, loader, place), NeighbourPanel(session, loader, place)
        yield
        self.cost = CostPanel(place)
        yield
        self.settings, self.similarity = SettingsPanel(session, place), SimilarityPanel(session, place)
        yield
        self.papers, self.fair = PapersPanel(place), FairPanel(place)
        yield
        self.setObjectName("compare-results")
        self.setDocumentMode(True)
        self.setMinimumHeight(LEAST)
        for widget, title in (
            (self.curves, "Curves"),
            (self.difference, "Difference"),
            (self.queries, "Queries"),
            (self.neighbours, "Neighbours"),
            (self.similarity, "Similarity"),
            (self.settings, "Settings"),
            (self.papers, "Papers"),
            (self.cost, "Cost"),
            (self.fair, "Fair ranking"),
        ):
            self.addTab(widget, title)
            yield
        self.show_fair(FairComparisons())
        for panel in (self.curves, self.difference, self.settings, self.similarity, self.fair):
            panel.announced.connect(session.notify)
        self.curves.beside.forest.plot.chosen.connect(self._open_difference)
        self.curves.without.difference_asked.connect(partial(self.setCurrentWidget, self.difference))
        self.curves.without.queries_asked.connect(partial(self.setCurrentWidget, self.queries))
        self.currentChanged.connect(self._draw_shown)

    def hasHeightForWidth(self) -> bool:
        """No: each tab scrolls by itself, so what it would like at a width is no reason for the page to scroll, too."""
        return False

    @property
    def styles(self) -> dict[str, GroupStyle]:
        """Title -> style of each group, in their order."""
        groups = () if self._model.overview is None else self._model.overview.groups
        shown_as = styles([group.colour for group in groups])
        return {group.title: style for group, style in zip(groups, shown_as, strict=True)}

    def show_fair(self, answer: FairComparisons) -> None:
        """Show the fair comparisons; their tab is hidden if there are none."""
        self.fair.show_comparisons(answer.comparisons)
        self.setTabVisible(self.indexOf(self.fair), bool(answer.comparisons))

    def draw_groups(self) -> None:
        """Show the current groups of the model."""
        self._stale |= {self.papers, self.curves, self.cost, self.settings, self.similarity}
        self._draw_shown()

    def show_rows(self, rows: Sequence[BaselineRow], *, ordered: bool = False) -> None:
        """Show the groups with their differences from the baseline, which comes first.

        Args:
            ordered: whether the user chose their order: then the curves, too, are those of the first groups.
        """
        self._rows, self._ordered = list(rows), ordered
        self._stale.add(self.difference)
        if self.currentWidget() is self.curves:
            self.curves.show_rows(self._rows, self.styles)
        self._draw_shown()

    def say(self, text: str) -> None:
        """Show a sentence in place of the comparison of two groups."""
        self._stale.discard(self.neighbours)
        self.difference.say(text)
        self.neighbours.say(text)
        self.queries.show_comparison(None, {}, text)

    def show_pair(self) -> None:
        """Show the comparison of the model's two groups; the model must have one."""
        pair = self._model.pair
        assert pair is not None
        self.difference.show_comparison(pair.comparison)
        hint, paired = self._model.queries_hint, self._model.paired_runs()
        titles = list(self.styles)
        called = dict(zip(titles, unlike_parts(titles), strict=True)).get(pair.comparison.second.title, "")
        self.queries.show_comparison(pair.comparison, pair.named, hint, paired, called)
        if pair.comparison.seeds:
            self._stale.add(self.neighbours)
        else:
            self.neighbours.say(NO_PAIRS)
        self._draw_shown()

    def _open_difference(self, title: str) -> None:
        self.curves.beside.forest.plot.mark("")  # the same row can be opened again
        self.difference.choose(title)
        self.setCurrentWidget(self.difference)

    def _draw_shown(self) -> None:
        overview, panel = self._model.overview, self.currentWidget()
        if overview is None or panel not in self._stale:
            return
        self._stale.discard(panel)
        if isinstance(panel, NeighbourPanel):
            if self._model.pair is not None:
                panel.show_pairs(self._model.paired_runs(), self._model.pair.named)
        elif isinstance(panel, DifferencePanel):
            panel.show_rows(self._rows, self.styles)
        elif isinstance(panel, SimilarityPanel):
            panel.show_overview(overview)
        elif isinstance(panel, SettingsPanel):
            panel.show_overview(overview, list(self.styles.values()), self._model.baseline)
        elif isinstance(panel, CurvesPanel):
            order = [row.group.title for row in self._rows] if self._ordered else []
            panel.show_overview(overview, list(self.styles.values()), order)
            panel.show_rows(self._rows, self.styles)
        elif isinstance(panel, CostPanel | PapersPanel):
            panel.show_overview(overview, list(self.styles.values()))
