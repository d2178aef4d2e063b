"""What stands around the pages: rail, message bar, status bar, the welcome; their sizes, and where the focus stays."""
