"""The settings of a run, given to the Set up page."""

from workbench.ui.actions.offering import check_known
from workbench.ui.state.session import Session
from workbench.workspace.rows import Run


def offer_settings(session: Session, run: Run, ending: str = "") -> None:
    """Show the settings of a run on Set up; `ending` is appended to its name.

    Raises:
        Problem: the catalog is not there yet, or the config of the run cannot be read.
    """
    from workbench.config import RunConfig

    check_known(session.catalog)
    config = RunConfig.from_toml_text(run.config, f"The config of “{run.name}”", session.catalog)
    session.config_offered.emit(config.model_copy(update={"name": f"{config.name}{ending}"[:200]}))
    session.show_page("setup")
