"""Export and import: runs as files for other programs, and embeddings of other models as runs."""
