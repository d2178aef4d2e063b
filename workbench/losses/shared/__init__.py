"""What several losses are computed from, and how they name their published values."""
