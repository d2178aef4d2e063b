"""Robustness: how much of a run's retrieval is left when the query images are changed, as by JPEG, blur or darkness.

The gallery keeps the stored embeddings; only queries are changed. Measured in a process of its own, with torch.
"""
