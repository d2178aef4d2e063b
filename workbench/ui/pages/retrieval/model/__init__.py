"""What the Retrieval page shows, without widgets."""
