"""The Train page: how the shown run is doing, live or as it was."""
