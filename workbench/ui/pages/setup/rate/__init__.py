"""The learning-rate range test of Set up: its dialog and its plot."""
