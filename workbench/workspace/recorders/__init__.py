"""What all recorders of a run share, and the one without a database."""
