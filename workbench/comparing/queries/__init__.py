"""Runs and groups of runs, query by query."""
