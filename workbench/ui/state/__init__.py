"""What all pages share: the session, the work that it has running, and the commands."""
