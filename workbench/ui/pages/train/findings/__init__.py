"""What the curves of a run show, in sentences."""
