"""The map over the epochs: the slider, play and what stands between two epochs."""
