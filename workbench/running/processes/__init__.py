"""A run in a process of its own: both sides, and the process that waits for a run."""
