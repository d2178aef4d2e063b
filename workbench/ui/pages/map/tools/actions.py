"""The commands of the Map page: tools, commands for the view and the selection, and steps through the epochs."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QWidget

from workbench.ui.pages.map.tools.tool_row import tool_action
from workbench.ui.style.words import own_keys

TOOLS = (("pan", "Pan", "G", "hand"), ("turn", "Turn", "O", "cube"), ("lasso", "Lasso", "S", "scribble-loop"),
         ("rectangle", "Rectangle", "R", "selection"))  # fmt: skip
SELECTING = own_keys("Shift adds, Ctrl removes")


class MapActions(QObject):
    """One action for each command; they belong to the page, so that menu and shortcuts dialog show them."""

    tool_chosen = Signal(str)  # "pan", "turn", "lasso" or "rectangle"

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        group = QActionGroup(self)
        self.tools = {name: tool_action(page, words, keys, drawn, group) for name, words, keys, drawn in TOOLS}
        for name, action in self.tools.items():
            action.setData(name)
            if name in ("lasso", "rectangle"):
                action.setToolTip(f"{action.toolTip()}: {SELECTING}")
        self.tools["turn"].setToolTip(f"{self.tools['turn'].toolTip()}: drag a 3-D map, or use the arrow keys on it")
        self.tools["turn"].setEnabled(False)
        self.tools["turn"].setVisible(False)  # no room in the row for what flat maps do not need
        self.tools["pan"].setChecked(True)
        group.triggered.connect(self._choose)
        self.fit = tool_action(page, "Fit all points", "F", "corners-out")
        self.isolate = tool_action(page, "Isolate the selection", "I", "frame-corners")
        self.clear = tool_action(page, "Clear the selection", "Esc", "x-circle")
        self.pictures = tool_action(page, "Pictures instead of points, when zoomed in", "T", "image")
        self.pictures.setCheckable(True)
        self.pictures.setChecked(True)
        self.show_named = tool_action(page, "Named selections…", "N", "bookmarks-simple")
        self.save_selection = tool_action(page, "Save the selection", "Ctrl+Shift+D", "floppy-disk")
        self.tag_selection = tool_action(page, "Tag the selection…", "Ctrl+Shift+G", "tag")
        self.beside = tool_action(page, "Two maps side by side", "B", "columns")
        self.beside.setCheckable(True)
        self.earlier = tool_action(page, "Earlier evaluation", "[", "caret-left")
        self.later = tool_action(page, "Later evaluation", "]", "caret-right")

    @property
    def of_row(self) -> list[QAction]:
        """The actions of the row above the map, with gaps between tools, view, selection and layers."""
        gaps = [QAction(self), QAction(self)]
        for gap in gaps:
            gap.setSeparator(True)
        look = (self.fit, self.isolate, self.clear)
        return [*self.tools.values(), gaps[0], *look, gaps[1], self.pictures, self.beside]

    def offer_turning(self, offered: bool) -> None:
        """Offer to turn the map, and take this tool in the place of Pan; or Pan in its place."""
        turn, pan = self.tools["turn"], self.tools["pan"]
        if offered != turn.isEnabled():
            turn.setEnabled(offered)
            turn.setVisible(offered)
            if offered and pan.isChecked():
                turn.trigger()
            elif not offered and turn.isChecked():
                pan.trigger()

    def _choose(self, action: QAction) -> None:
        self.tool_chosen.emit(action.data())
