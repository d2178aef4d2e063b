"""The Anatomy tab: what the loss does to the embeddings."""
