"""Deployment: measures and exports embeddings that are compressed or in an index: their recall, bytes and time.

faiss runs in the analysis process (`python -m workbench.deploying.server`); no torch here.
"""
