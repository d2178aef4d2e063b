"""The tabs of the Compare page: each is made and drawn when it is opened, and again drawn when its content changed."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from PySide6.QtCore import Signal
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
from workbench.ui.pages.compare.queries.by_size import SizeDifferences
from workbench.ui.pages.compare.queries.neighbour_overlap import NeighbourPanel
from workbench.ui.pages.compare.queries.panel import QueryDifferences
from workbench.ui.pages.compare.settings.panel import SettingsPanel
from workbench.ui.pages.compare.similarity.panel import SimilarityPanel
from workbench.ui.pages.compare.style.group_styles import GroupStyle, styles
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.images.pictures import PictureLoader

Panel = TypeVar("Panel", bound=QWidget)
CURVES, DIFFERENCE, QUERIES = "Curves", "Difference", "Queries"
LEAST = 240  # px, so that a tab can be read where the page scrolls


class ResultTabs(QTabWidget):
    """Draws the model's groups, and the two of them that are compared.

    All panels but the curves are made when their tab is first opened, or when they are first asked for.
    """

    pair_chosen = Signal()  # the model has another pair of groups
    opened = Signal(int, object)  # run, sample id: a query is to be shown in that run

    def __init__(self, session: Session, model: CompareModel, loader: PictureLoader, *, in_parts: bool = False) -> None:
        super().__init__()
        self._session, self._model = session, model
        self._rows: list[BaselineRow] = []
        self._ordered = False  # whether the user chose their order
        self._said: str | None = ""  # the sentence in place of the comparison of two groups, None while that is shown
        self._fair = FairComparisons()
        self._holders: dict[type[QWidget], QWidget] = {}  # what a tab shows before its panel is made, and around it
        self._makers: dict[type[QWidget], Callable[[QWidget], QWidget]] = {}
        self._made: dict[type[QWidget], QWidget] = {}
        self._stale: set[type[QWidget]] = set()  # panels that do not show the model's current state
        self.making = begun(self._parts(session, loader), in_parts)

    def _parts(self, session: Session, loader: PictureLoader) -> Parts:
        place = self.findChild(QStackedWidget)  # a panel that came here later would be styled again, with all in it
        self.curves = CurvesPanel(session, place)
        yield
        self.setObjectName("compare-results")
        self.setDocumentMode(True)
        self.setMinimumHeight(LEAST)
        self.addTab(self.curves, CURVES)
        self._made[CurvesPanel] = self.curves
        self._add(DifferencePanel, DIFFERENCE, partial(DifferencePanel, self._model))
        self._add(QueryDifferences, QUERIES, partial(QueryDifferences, session, loader))
        self._add(NeighbourPanel, "Neighbours", partial(NeighbourPanel, session, loader))
        self._add(SizeDifferences, "Class size", partial(SizeDifferences, session))
        self._add(SimilarityPanel, "Similarity", partial(SimilarityPanel, session))
        self._add(SettingsPanel, "Settings", partial(SettingsPanel, session))
        self._add(PapersPanel, "Papers", PapersPanel)
        self._add(CostPanel, "Cost", CostPanel)
        self._add(FairPanel, "Fair ranking", FairPanel)
        self.show_fair(self._fair)
        self.curves.wished.connect(session.fulfil)
        self.curves.beside.forest.plot.chosen.connect(self._open_difference)
        self.curves.without.difference_asked.connect(partial(self.open, DIFFERENCE))
        self.curves.without.queries_asked.connect(partial(self.open, QUERIES))
        self.currentChanged.connect(self._draw_shown)
        yield

    def _add(self, kind: type[QWidget], title: str, maker: Callable[[QWidget], QWidget]) -> None:
        self._holders[kind], self._makers[kind] = QWidget(self.findChild(QStackedWidget)), maker
        self.addTab(self._holders[kind], title)

    @property
    def difference(self) -> DifferencePanel:
        """The tab Difference."""
        return self._panel(DifferencePanel)

    @property
    def queries(self) -> QueryDifferences:
        """The tab Queries."""
        return self._panel(QueryDifferences)

    @property
    def neighbours(self) -> NeighbourPanel:
        """The tab Neighbours."""
        return self._panel(NeighbourPanel)

    @property
    def by_size(self) -> SizeDifferences:
        """The tab Class size."""
        return self._panel(SizeDifferences)

    @property
    def similarity(self) -> SimilarityPanel:
        """The tab Similarity."""
        return self._panel(SimilarityPanel)

    @property
    def settings(self) -> SettingsPanel:
        """The tab Settings."""
        return self._panel(SettingsPanel)

    @property
    def papers(self) -> PapersPanel:
        """The tab Papers."""
        return self._panel(PapersPanel)

    @property
    def cost(self) -> CostPanel:
        """The tab Cost."""
        return self._panel(CostPanel)

    @property
    def fair(self) -> FairPanel:
        """The tab Fair ranking."""
        return self._panel(FairPanel)

    def _panel(self, kind: type[Panel]) -> Panel:
        """The panel of a kind, made now if it does not exist yet."""
        if kind not in self._made:
            self._make(kind)
        panel = self._made[kind]
        assert isinstance(panel, kind)
        return panel

    def _make(self, kind: type[QWidget]) -> None:
        holder = self._holders[kind]
        panel = self._made[kind] = self._makers[kind](holder)
        in_column((panel, 1), on=holder)
        if isinstance(panel, DifferencePanel | SettingsPanel | SimilarityPanel | FairPanel | PapersPanel | CostPanel):
            panel.wished.connect(self._session.fulfil)
        if isinstance(panel, QueryDifferences | NeighbourPanel):
            panel.opened.connect(self.opened)
        if isinstance(panel, DifferencePanel):
            panel.chosen.connect(self.pair_chosen)
            panel.show_groups()
        if isinstance(panel, FairPanel):
            panel.show_comparisons(self._fair.comparisons)
        self._tell_pair(panel)
        self._session.part_made.emit(panel)

    def open(self, title: str) -> None:
        """Show the tab of that title."""
        self.setCurrentIndex(next(at for at in range(self.count()) if self.tabText(at) == title))

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
        self._fair = answer
        if FairPanel in self._made:
            self.fair.show_comparisons(answer.comparisons)
        self.setTabVisible(self.indexOf(self._holders[FairPanel]), bool(answer.comparisons))

    def show_groups(self) -> None:
        """Show the groups that can be compared, and which two are."""
        if DifferencePanel in self._made:
            self.difference.show_groups()

    def draw_groups(self) -> None:
        """Show the current groups of the model."""
        self._stale |= {PapersPanel, CurvesPanel, CostPanel, SettingsPanel, SimilarityPanel}
        self._draw_shown()

    def show_rows(self, rows: Sequence[BaselineRow], *, ordered: bool = False) -> None:
        """Show the groups with their differences from the baseline, which comes first.

        Args:
            ordered: whether the user chose their order: then the curves, too, are those of the first groups.
        """
        self._rows, self._ordered = list(rows), ordered
        self._stale.add(DifferencePanel)
        if self.currentWidget() is self.curves:
            self.curves.show_rows(self._rows, self.styles)
        self._draw_shown()

    def say(self, text: str) -> None:
        """Show a sentence in place of the comparison of two groups."""
        self._said = text
        self._tell_pairs()

    def show_pair(self) -> None:
        """Show the comparison of the model's two groups; the model must have one."""
        self._said = None
        self._tell_pairs()
        self._draw_shown()

    def _tell_pairs(self) -> None:
        for panel in self._made.values():
            self._tell_pair(panel)

    def _tell_pair(self, panel: QWidget) -> None:
        """Show in a panel of two groups their comparison, or the sentence in its place; other panels have neither."""
        pair, words = self._model.pair if self._said is None else None, self._said or ""
        if isinstance(panel, DifferencePanel):
            if pair is None:
                panel.say(words)
            else:
                panel.show_comparison(pair.comparison)
        elif isinstance(panel, QueryDifferences):
            if pair is None:
                panel.show_comparison(None, {}, words)
            else:
                titles = list(self.styles)
                called = dict(zip(titles, unlike_parts(titles), strict=True)).get(pair.comparison.second.title, "")
                paired = self._model.paired_runs()
                panel.show_comparison(pair.comparison, pair.named, self._model.queries_hint, paired, called)
        elif isinstance(panel, NeighbourPanel | SizeDifferences):
            self._stale.discard(type(panel))
            if pair is None:
                panel.say(words)
            elif pair.comparison.seeds:
                self._stale.add(type(panel))
            else:
                panel.say(NO_PAIRS)

    def _open_difference(self, title: str) -> None:
        self.curves.beside.forest.plot.mark("")  # the same row can be opened again
        self.difference.choose(title)
        self.open(DIFFERENCE)

    def _draw_shown(self) -> None:
        kind = next((kind for kind, holder in self._holders.items() if holder is self.currentWidget()), CurvesPanel)
        overview, panel = self._model.overview, self._panel(kind)
        if overview is None or kind not in self._stale:
            return
        self._stale.discard(kind)
        if isinstance(panel, NeighbourPanel):
            if self._model.pair is not None:
                panel.show_pairs(self._model.paired_runs(), self._model.pair.named)
        elif isinstance(panel, SizeDifferences):
            if self._model.comparison is not None:
                panel.show_pair(self._model.comparison, self._model.paired_runs())
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
