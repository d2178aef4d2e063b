"""Search on the Retrieval page by an image or words of the user, and in a search-only gallery."""
