"""Searches in a run's test half, by the user's own images or words."""
