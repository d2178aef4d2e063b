"""The Train page: how the shown run is doing, live or as it was."""

from workbench.ui.pages.train.page import TrainPage

__all__ = ["TrainPage"]
