"""The view Class size of the Retrieval page: rare classes beside frequent ones."""
