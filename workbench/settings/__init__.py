"""The settings of a run besides the config itself: fields changed by name, and presets."""
