"""What the points of the map are coloured by, and its legend."""
