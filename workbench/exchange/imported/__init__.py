"""Embeddings of other programs as runs."""
