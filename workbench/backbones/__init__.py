"""Backbones: one file per family; `model.build_model` puts one under an embedding head."""

from workbench import registry


def list_backbones() -> list[str]:
    """The names that a config can use, sorted."""
    registry.load_plugins()
    return [entry.name for entry in registry.entries("backbone")]
