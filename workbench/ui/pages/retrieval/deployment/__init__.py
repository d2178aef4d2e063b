"""The Deployment view of the Retrieval page."""
