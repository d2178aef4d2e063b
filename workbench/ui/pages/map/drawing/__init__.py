"""The plot of the map: the layers over the points, and pan, zoom, lasso and click."""
