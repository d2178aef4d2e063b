"""The data of the run that is set up: read on a thread, shown in a dialog."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.config import RunConfig
from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.workspace.run_names import title_of_data

if TYPE_CHECKING:
    from workbench.datasets.inspection import Inspection

LOOKING = "Looking at the data"


class DataLook(QObject):
    """`dialog` is the one that was shown last, once there is one."""

    def __init__(self, session: Session, page: QWidget) -> None:
        super().__init__(page)
        self._session, self._page = session, page
        self.dialog: QWidget | None = None

    def look(self, config: RunConfig) -> None:
        """Read the data set of a config and show what is in it; the message bar reports what cannot be read."""

        def work(progress: Progress) -> "Inspection":
            from workbench.running import preflight

            return preflight.inspect_data(config, progress)

        self._session.run_in_thread(LOOKING, work, partial(self._show, title_of_data(self._session.catalog, config)))

    def _show(self, title: str, inspection: "Inspection") -> None:
        from workbench.ui.pages.setup.data.dialog import DataDialog

        self.dialog = DataDialog(title, inspection, self._page)
        self._session.part_made.emit(self.dialog)
        self.dialog.show()
