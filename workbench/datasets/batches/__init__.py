"""Which images form a batch, and how they are augmented."""
