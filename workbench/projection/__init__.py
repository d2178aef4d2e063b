"""Maps of embeddings in two dimensions; `python -m workbench.projection.server` draws them in a process of its own."""
