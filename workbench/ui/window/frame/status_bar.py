"""The window's last line: what the program is doing, workspace, device, how busy the machine is, memory."""

from collections import deque

import numpy as np
import psutil
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QStatusBar, QWidget

from workbench import machine_memory
from workbench.jobs.newest import Newest
from workbench.machine_load import GPU_LOAD, PROCESSOR, MachineLoad
from workbench.numerals import percentage
from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.ui.style.theme import SERIES
from workbench.ui.style.words import device_name, from_home, memory
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.numbers.spark import Spark

EVERY, SHOWN = 2000, 30  # ms between two looks, and looks that the curves hold: a minute
SPARK = (40, 14)  # px
DOING = 3  # times the room of the workspace's path


class Measured:
    """What the status bar shows of this machine; made and asked on threads, one at a time.

    Attributes:
        with_gpu: whether the first GPU is asked, too.
    """

    def __init__(self) -> None:
        self.with_gpu = False
        self._process = psutil.Process()
        self._loads: dict[bool, MachineLoad] = {}  # without and with a GPU

    def look(self, _progress: Progress) -> tuple[dict[str, float], int, int]:
        """Loads as `MachineLoad.measure` names them; bytes that this program uses, and bytes that are free."""
        wanted = self.with_gpu
        load = self._loads.get(wanted) or self._loads.setdefault(wanted, MachineLoad(0 if wanted else None))
        return load.measure(), self._process.memory_info().rss, machine_memory.available()


class StatusBar(QStatusBar):
    """Load: of the first GPU that NVIDIA's library knows, and of the processor. Memory: of this program, and free.

    Args:
        doing: shows what the program is doing, at the left.
    """

    def __init__(self, session: Session, doing: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.folder = ElidedLabel("", mode=Qt.TextElideMode.ElideMiddle)
        self.device = label("Device: detecting…")
        self.memory = label()
        self._measured = Measured()
        self._measuring = Newest(session, one_at_a_time=True)
        self.loads = {PROCESSOR: label("CPU"), GPU_LOAD: label("GPU")}
        self._sparks = {name: Spark(SERIES["ce"], size=SPARK, ends=(0.0, 1.0)) for name in (PROCESSOR, GPU_LOAD)}
        self._past: dict[str, deque[float]] = {name: deque(maxlen=SHOWN) for name in self.loads}
        self.addWidget(doing, DOING)
        self.addWidget(self.folder, 1)
        self.addPermanentWidget(self.device)
        for name in (GPU_LOAD, PROCESSOR):
            self.addPermanentWidget(self.loads[name])
            self.addPermanentWidget(self._sparks[name])
            self._sparks[name].hide()
            self.loads[name].hide()
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
        """Read the load and the memory in use, on a thread: a question to a driver or to the system may take long."""
        self._measuring.ask("Load of this machine", self._measured.look, self._show, quiet=True)

    def _show(self, measured: tuple[dict[str, float], int, int]) -> None:
        values, used, free = measured
        for name, title in ((GPU_LOAD, "GPU"), (PROCESSOR, "CPU")):
            if name in values:
                self._past[name].append(values[name])
                self.loads[name].setText(f"{title} {percentage(values[name], 0)}")
                self._sparks[name].show_values(np.array(self._past[name]))
            self.loads[name].setVisible(name in values)
            self._sparks[name].setVisible(name in values)
        self.memory.setText(f"Memory: {memory(used)}, {memory(free)} free")

    def show_no_device(self) -> None:
        """Say that the device is not known, because the engine does not load."""
        self.device.setText("Device: unknown")

    def show_device(self, name: str) -> None:
        """Show the device that runs train on by default; the load of a GPU is measured from now on."""
        self.device.setText(f"Device: {device_name(name)}")
        if name not in ("cpu", "mps"):
            self._measured.with_gpu = True
