"""The colourings of the map's points, and the legend."""
