"""The list of runs grouped by a setting: their configs are read on a thread, once that is asked for."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from workbench.jobs.newest import Newest
from workbench.progress import Progress
from workbench.ui.docks.arrange_menu import ArrangeButton
from workbench.ui.models.run_list import RunList
from workbench.ui.state.session import Session

READING = "Read the settings of the runs"
ALREADY = ("dataset.name", "backbone.name", "loss.name")  # settings with an entry of their own in the menu


class SettingGroups(QObject):
    """Tells the list which group each run is in, and the menu which settings differ.

    Args:
        regrouped: called when the list has other groups than before.
    """

    def __init__(
        self, session: Session, model: RunList, menu: ArrangeButton, regrouped: Callable[[], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._model, self._menu, self._regrouped = session, model, menu, regrouped
        self._grouping, self._offering = Newest(session), Newest(session)
        self._read: tuple[str, frozenset[str], int] | None = (
            None  # the field, the configs and the catalog of the groups
        )
        menu.settings_asked.connect(self._offer)

    def refresh(self) -> None:
        """Read the groups again if the list is grouped by another setting than before, or has other runs."""
        field, known = self._model.arrangement.setting, self._session.catalog
        configs = frozenset(self._model.configs_for(field))
        wanted = (field, configs, id(known))
        if not field or wanted == self._read:
            return
        self._read = wanted

        def work(progress: Progress) -> tuple[str, dict[str, str]]:
            from workbench.comparing.grouping.by_setting import titles_by  # late: the window is shown first

            return titles_by(field, configs, known)

        def take(answer: tuple[str, dict[str, str]]) -> None:
            title, groups = answer
            self._menu.name_setting(title)
            self._model.group(field, groups)
            self._regrouped()

        self._grouping.ask(READING, work, take, quiet=True)

    def _offer(self) -> None:
        configs, known = frozenset(self._model.configs_for()), self._session.catalog

        def work(progress: Progress) -> list[tuple[str, str]]:
            from workbench.comparing.grouping.by_setting import settings_that_differ  # late: the window is shown first

            return [(field, title) for field, title in settings_that_differ(configs, known) if field not in ALREADY]

        self._offering.ask(READING, work, self._menu.offer_settings, quiet=True)
