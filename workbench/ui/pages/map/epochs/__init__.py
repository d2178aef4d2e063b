"""The map over the epochs: the slider, playback and interpolation between epochs."""
