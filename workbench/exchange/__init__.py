"""In and out: runs as files that other programs read, and embeddings of models trained elsewhere as runs."""
