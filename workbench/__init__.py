"""Workbench: train, watch, map, browse and report deep metric learning."""

__version__ = "0.2.0"
