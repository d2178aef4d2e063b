"""A dock with a slim title: its name, its controls, and a button that hides it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QVBoxLayout, QWidget

from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.labels import label


class Dock(QDockWidget):
    """`body` is a QVBoxLayout for the content, `head` the title's QHBoxLayout."""

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setObjectName(name)
        feature = QDockWidget.DockWidgetFeature
        self.setFeatures(feature.DockWidgetClosable | feature.DockWidgetMovable)
        bar = QWidget()
        bar.setObjectName("dockTitle")
        bar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.head = in_row((label(title, "strong"), 1), on=bar, margins=(12, 4, 4, 4), spacing=4)
        hide = icon_button("x", f"Hide {title} (View menu brings it back)")
        hide.clicked.connect(self.close)
        self.head.addWidget(hide)
        self.setTitleBarWidget(bar)
        content = QWidget()
        content.setObjectName("dockBody")
        content.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.body = QVBoxLayout(content)
        self.body.setContentsMargins(8, 8, 8, 8)
        self.body.setSpacing(8)
        self.setWidget(content)

    def add_to_head(self, widget: QWidget) -> None:
        """Put a control before the button that hides the dock."""
        self.head.insertWidget(self.head.count() - 1, widget)
