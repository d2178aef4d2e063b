"""What a model costs and keeps once its embeddings are stored smaller or behind an index: measured, and exported.

faiss runs in the analysis process (`python -m workbench.deploying.server`); no torch here.
"""
