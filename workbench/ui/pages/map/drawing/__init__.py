"""The plot of the map: points, the layers over them, and the tools."""
