"""The Geometry tab: how the embeddings changed over the epochs."""
