"""What is left of the retrieval when query images are changed."""
