"""A window that a test shows, and a run that it starts in one."""

from workbench.config import RunConfig
from workbench.ui.state.session import Session
from workbench.ui.window.main_window import MainWindow


def shown_window(qtbot, session):
    """The window, at the size of a common screen."""
    window = MainWindow(session)
    qtbot.addWidget(window)
    window.resize(1440, 900)
    with qtbot.waitExposed(window):
        window.show()
    return window


def started(session: Session, config: RunConfig) -> int:
    """Start a config; the number of its first run, which is shown then."""
    session.start(config)
    assert session.run_id is not None
    return session.run_id
