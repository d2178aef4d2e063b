"""What the Map page shows, without widgets: maps, their epochs, and the choices on them."""
