"""Maps of embeddings in two dimensions; `python -m workbench.projection.server` computes them in its own process."""
