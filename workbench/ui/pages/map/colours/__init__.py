"""The colourings of the map's points."""
