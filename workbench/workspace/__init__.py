"""Runs, curves, evaluations and neighbours on disk: SQLite and .npy, open to other tools."""

from workbench.workspace.workspace import Workspace

__all__ = ["Workspace"]
