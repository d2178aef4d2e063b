"""The user's own images: one file per way to store them."""
