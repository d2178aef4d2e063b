"""A window that a test shows, and a run that it starts in one."""

from workbench.config import RunConfig
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow


def shown_window(qtbot, session):
    """The window, at the size of a common screen."""
    return qtbot.shown(MainWindow(session), 1440, 900)


def started(session: Session, config: RunConfig) -> int:
    """Start a config; the number of its first run, which is shown then."""
    session.start(config)
    assert session.run_id is not None
    return session.run_id
