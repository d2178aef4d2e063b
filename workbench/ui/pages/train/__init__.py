"""The Train page: the progress of the shown run, live or afterwards."""

from workbench.ui.pages.train.page import TrainPage

__all__ = ["TrainPage"]
