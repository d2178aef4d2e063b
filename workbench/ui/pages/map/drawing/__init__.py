"""The plot of the map: points, what lies over them, and the tools on it."""
