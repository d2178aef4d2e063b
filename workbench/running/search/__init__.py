"""Searches in a run's test set, by the user's own images or words."""
