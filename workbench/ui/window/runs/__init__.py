"""The runs in the window: shown again at the next start, in the Activity panel, in the trash, and ended."""
