"""Search in galleries of millions of embeddings: exact block by block, or through an index whose recall is measured.

faiss runs in a process of its own (`python -m workbench.searching.server`); no torch here.
"""
