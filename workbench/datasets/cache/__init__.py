"""Images decoded once into files that training, map and window share."""
