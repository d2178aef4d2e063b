"""Sweeps: many settings of one config as one piece of work, proposed, kept in line and run in the background."""
