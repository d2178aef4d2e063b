"""Maps of embeddings in two or three dimensions; `python -m workbench.projection.server` computes them."""
