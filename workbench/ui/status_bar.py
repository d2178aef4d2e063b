"""The window's last line: workspace, device, memory."""

import psutil
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QStatusBar, QWidget

from workbench.ui.session import Session
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.words import from_home, memory

EVERY = 2000  # ms


class StatusBar(QStatusBar):
    """Memory: what this program uses, and what is free on the machine."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._process = psutil.Process()
        self.folder = ElidedLabel("", mode=Qt.TextElideMode.ElideMiddle)
        self.device = label("Device: being found")
        self.memory = label()
        self.addWidget(self.folder, 1)
        self.addPermanentWidget(self.device)
        self.addPermanentWidget(self.memory)
        self.setSizeGripEnabled(False)
        session.workspace_changed.connect(self.show_workspace)
        self._timer = QTimer(self, interval=EVERY)
        self._timer.timeout.connect(self.measure)
        self._timer.start()
        self.show_workspace()
        self.measure()

    def show_workspace(self) -> None:
        """Show the path of the open workspace, and whether it is read-only."""
        workspace = self._session.workspace
        folder = from_home(workspace.path.absolute())
        self.folder.setText(f"{folder}{' (read-only)' if workspace.read_only else ''}")

    def measure(self) -> None:
        """Read the memory in use."""
        used, free = self._process.memory_info().rss, psutil.virtual_memory().available
        self.memory.setText(f"Memory: {memory(used)}, {memory(free)} free")

    def show_device(self, name: str) -> None:
        """Show the device that runs train on by default."""
        self.device.setText(f"Device: {name}")
