"""Helpers of a config: fields changed by name, checks between fields, and presets."""
