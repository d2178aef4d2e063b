"""The check of a run before it starts, and its card."""
