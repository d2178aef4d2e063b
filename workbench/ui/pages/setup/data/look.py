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
    from workbench.datasets.near_duplicates import NearDuplicates
    from workbench.ui.pages.setup.data.near_duplicates import NearDuplicatesTab

LOOKING = "Looking at the data"
COMPARING = "Looking for near-duplicates"


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

        self._session.run_in_thread(LOOKING, work, partial(self._show, config))

    def _show(self, config: RunConfig, inspection: "Inspection") -> None:
        from workbench.ui.pages.setup.data.dialog import DataDialog

        title = title_of_data(self._session.catalog, config)
        self.dialog = dialog = DataDialog(title, inspection, self._page)
        dialog.near_duplicates.asked.connect(partial(self._compare, config, dialog.near_duplicates))
        dialog.wished.connect(self._session.fulfil)
        self._session.part_made.emit(dialog)
        dialog.show()

    def _compare(self, config: RunConfig, tab: "NearDuplicatesTab") -> None:
        def work(progress: Progress) -> "NearDuplicates":
            from workbench.running import preflight

            return preflight.near_duplicates(config, progress)

        task = self._session.run_in_thread(
            COMPARING, work, tab.show_pairs, tab.fail, cancelled=tab.tell_cancelled
        )  # fmt: skip
        if task.item is not None:
            task.item.changed.connect(tab.tell_progress)
        tab.cancel_asked.connect(task.ask_to_end)
        tab.destroyed.connect(task.cancel)
