"""Image files: which there are below a folder, and how one is read."""
