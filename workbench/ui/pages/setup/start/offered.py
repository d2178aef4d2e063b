"""A run that another part of the window wants started here, as a start card does: shown in the form, then started."""

from PySide6.QtCore import QObject

from workbench.config import RunConfig
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.start.form_page import FormPage
from workbench.ui.places.choice import HERE
from workbench.ui.state.concern import EVERYWHERE


class OfferedStart(QObject):
    """Starts the offered config as *Start* would, once the catalog is known: it waits for the end of Preflight."""

    def __init__(self, page: FormPage, parent: QObject) -> None:
        super().__init__(parent)
        self._page = page
        self._config: RunConfig | None = None  # until the catalog is known
        page.session.start_offered.connect(self._take)
        page.session.catalog_changed.connect(self._start)

    def _take(self, config: RunConfig) -> None:
        self._config = config
        if self._page.draft is not None:
            self._start()

    def _start(self) -> None:
        config, self._config = self._config, None
        if config is None:
            return
        page = self._page
        page.beside.where.set_value(HERE)
        if page.draft is None or Draft(page.session.catalog, config).values != page.draft.values:
            page.take_config(config)
        if page.verdict.reasons:
            page.session.notify(f"The run was not started. {page.verdict.reasons[0]}", EVERYWHERE)
        else:
            page.start_run()
