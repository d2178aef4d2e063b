"""What several losses are computed from."""
