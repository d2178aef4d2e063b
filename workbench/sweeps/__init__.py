"""Sweeps: many settings of one config, which are proposed, queued and trained in the background."""
