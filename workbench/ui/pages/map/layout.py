"""What stands on the Map page: the tools, the maps and their caption, the slider of epochs, and the side column."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QStackedWidget, QToolButton, QWidget

from workbench.ui.pages.map.colours.colouring_box import ColouringBox
from workbench.ui.pages.map.colours.point_colours import PointColours
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.drawing.contours import ContourMaker
from workbench.ui.pages.map.epochs.playback import Playback
from workbench.ui.pages.map.epochs.time_bar import TimeBar, time_card
from workbench.ui.pages.map.export_menu import MapExport
from workbench.ui.pages.map.hovering.hover_card import HoverCard
from workbench.ui.pages.map.hovering.true_links import TrueLinks
from workbench.ui.pages.map.making.map_maker import MapMaker
from workbench.ui.pages.map.making.progress_strip import ProgressStrip
from workbench.ui.pages.map.making.settings import MapSettings, labelled
from workbench.ui.pages.map.model.map_model import MapModel
from workbench.ui.pages.map.second_map import SecondMap
from workbench.ui.pages.map.selecting.breadcrumb import Breadcrumb
from workbench.ui.pages.map.side.class_table import ClassTableOpener
from workbench.ui.pages.map.side.side_column import SideColumn
from workbench.ui.pages.map.tools.actions import MapActions
from workbench.ui.pages.map.tools.doubts import DoubtsButton
from workbench.ui.pages.map.tools.tool_row import ToolRow
from workbench.ui.state.pages.in_parts import Parts
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.evaluation.evaluation_hint import EvaluationHint
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.images.locating import LocateStrip
from workbench.ui.widgets.images.pictures import shared_loader
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.page_menu import PageMenu


class MapLayout(QStackedWidget):
    """The parts of the page, and where they stand; one of two pages hints at what appears, the other has the map."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.model = MapModel()
        self.maker = MapMaker(session, self)
        self.colours = PointColours(session, self)

    def _lay_out(self) -> Parts:
        appears = "The map of the test embeddings appears here after the first evaluation."
        self.hint = EvaluationHint(self.session, appears)
        loader = shared_loader(self.session)
        self.commands = MapActions(self)
        self.canvas = MapCanvas()
        self.canvas.setAccessibleName("Map of the test embeddings; export it as CSV to read it as a table")
        self.canvas.show_pictures(loader)
        yield
        self.problem = label("", "muted", wrap=True, parent=self.canvas)
        self.problem.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.problem.hide()
        self.strip = ProgressStrip(self.canvas)
        self.breadcrumb = Breadcrumb(self.canvas)
        self.canvas.note.kept_clear = self.breadcrumb
        self.hover_card = HoverCard(loader, self.canvas, self.colours)
        self.second = SecondMap(self.session, self.colours)
        yield
        self.links = TrueLinks(self.session, self.canvas, self)
        self.class_table = ClassTableOpener(self.session, self)
        self.side = SideColumn(self.session, self.class_table)
        yield
        self.legend, self.selections = self.side.legend, self.side.selections
        self.time = TimeBar(self.model.timeline, lambda: self.session.workspace.read_only)
        self.playback = Playback(self.session, self.model, self.time, self)
        content, card = QWidget(), QFrame()  # in their places before they are filled: moved later, all is styled again
        self.addWidget(self.hint)
        self.addWidget(content)
        column = in_column((card, 1), time_card(self.session, self.time), spacing=12)
        in_row((column, 1), self.side, on=content, margins=(16, 12, 16, 12), spacing=12)
        self._fill_card(card)
        yield
        self.side.give_way_in(content)
        self.contours = ContourMaker(self.session, self.canvas.contours, self)
        yield

    def _fill_card(self, card: QFrame) -> None:
        """The row of tools, and below it the maps and their caption."""
        self.settings = MapSettings(self)
        self.colouring = ColouringBox(self.session)
        self.locating = LocateStrip(self.session, shared_loader(self.session))
        tools = ToolRow(self.commands.of_row)
        self.tools = {name: tools.buttons[action] for name, action in self.commands.tools.items()}
        self.export = icon_button("export", "Export the map")
        self.exports = MapExport(self.session, self.model, (self.canvas, self.second), self)
        self.export.setMenu(PageMenu(self.export))
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.exports.fill(self.export.menu())
        top = FlowLayout(spacing=6)  # two lines in a narrow window
        top.setContentsMargins(8, 8, 8, 8)
        parts = (labelled("Colour", self.colouring), *self.settings.parts, tools, self.export, self.side.opener)
        for widget in (*parts, self.locating):
            top.addWidget(widget)
        maps = in_row((self.canvas, 1), (self.second, 1), spacing=8)
        self.caption = ElidedLabel("", "caption", lines=2)
        self.doubts = DoubtsButton(self.model)
        foot = in_row((self.caption, 1), self.doubts, margins=(12, 4, 12, 4), spacing=8)
        card.setProperty("card", "true")
        self.card_column = in_column(top, (maps, 1), foot, on=card, margins=1, spacing=0)
