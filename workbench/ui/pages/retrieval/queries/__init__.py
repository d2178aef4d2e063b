"""The list of queries of the Retrieval page, with its filters and saved views."""
