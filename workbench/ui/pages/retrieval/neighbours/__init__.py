"""The query of the Retrieval page with its neighbours, as cards."""
