"""The map over the epochs: the slider, play and the points between two epochs."""
