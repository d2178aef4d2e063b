"""A run that a test starts in the window."""

from workbench.config import RunConfig
from workbench.ui.session import Session


def started(session: Session, config: RunConfig) -> int:
    """Start a config; the number of its first run, which is shown then."""
    session.start(config)
    assert session.run_id is not None
    return session.run_id
