"""The points of the map, drawn from arrays."""
