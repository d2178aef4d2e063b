"""What the Compare page shows, without widgets."""
