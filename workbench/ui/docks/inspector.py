"""The Inspector dock: a frame for the selected samples, which collapses to a strip when the window is narrow."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QCloseEvent, QFontInfo
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from workbench.ui.docks.dock import Dock
from workbench.ui.style import theme
from workbench.ui.widgets.buttons import icon_button

WIDTH, NARROWEST, STRIP = 280, 240, 40  # px
PAGES = ("map", "retrieval")  # where something can be selected
NARROW = 1400  # px of the window, at 100% text, under which the Inspector folds
UNLIMITED = 16_777_215  # Qt's own largest width


class InspectorDock(Dock):
    """Shown next to a page while it has something to add, unless the user closed it; opened by the user it stays.

    It collapses when the window becomes narrow; the user's own choice holds until it crosses that again.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("inspector", "Inspector", parent)
        self._narrow: bool | None = None
        self.folded = False
        self._aside = False
        self._wanted, self._asked = True, False  # unless the user closed it; opened by the user, whatever is selected
        self.toggleViewAction().triggered.connect(self._choose)
        fold = icon_button("caret-double-right", "Collapse the Inspector to a strip")
        fold.clicked.connect(self.fold)
        self.add_to_head(fold)
        self._full_title = self.titleBarWidget()
        self._no_title = QWidget()
        self._strip = self._make_strip()
        self._content = QStackedWidget()
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(self._content)
        self.body.addWidget(self._strip)
        self._strip.hide()
        self.widget().setMinimumWidth(NARROWEST)

    def _make_strip(self) -> QWidget:
        strip = QWidget()
        column = QVBoxLayout(strip)
        column.setContentsMargins(4, 8, 4, 8)
        for icon_name, name in (("caret-double-left", "Expand the Inspector"), ("image", "Inspector: selected images")):
            opener = icon_button(icon_name, name)
            opener.clicked.connect(self.unfold)
            column.addWidget(opener, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return strip

    @property
    def empty(self) -> bool:
        """Whether it has no panel yet."""
        return self._content.count() == 0

    def forget_choice(self) -> None:
        """Let the window's width decide again."""
        self._narrow = None
        self._wanted, self._asked = True, False

    def set_panel(self, panel: QWidget) -> None:
        """Put the widget that shows the selection into the dock."""
        self._content.addWidget(panel)

    def stand_beside(self, page: str, selected: bool) -> None:
        """Show it on a page where something is selected that the page does not show itself; hide it elsewhere."""
        self.setVisible(page in PAGES and (self._asked or (self._wanted and selected)))

    def _choose(self, shown: bool) -> None:
        self._wanted = self._asked = shown

    def closeEvent(self, event: QCloseEvent) -> None:
        self._wanted = self._asked = False
        super().closeEvent(event)

    def fold(self) -> None:
        """Only a strip with icons is left."""
        self.folded = True
        self._content.hide()
        self._strip.show()
        self.setTitleBarWidget(self._no_title)
        self.widget().setMinimumWidth(STRIP)
        self.widget().setMaximumWidth(STRIP)

    def unfold(self) -> None:
        """The whole Inspector again."""
        self.folded = False
        self._strip.hide()
        self._content.show()
        self.setTitleBarWidget(self._full_title)
        self.widget().setMinimumWidth(NARROWEST)
        self.widget().setMaximumWidth(UNLIMITED)

    def stand_aside(self, aside: bool) -> None:
        """Collapse for a page that has its own column for the selection, and expand afterwards."""
        if aside and not self.folded:
            self._aside = True
            self.fold()
        elif not aside and self._aside:
            self._aside = False
            if not self._narrow:
                self.unfold()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self._narrow is not None:
            self.adapt(self.window().width())

    def adapt(self, window_width: int) -> None:
        """Collapse or expand when the window's width has crossed the limit, which grows with the text."""
        narrow = window_width < NARROW * QFontInfo(self.font()).pixelSize() / theme.BODY_PX
        if narrow == self._narrow:
            return
        self._narrow = narrow
        if narrow or self._aside:
            self.fold()
        else:
            self.unfold()
