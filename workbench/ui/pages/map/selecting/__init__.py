"""What is chosen on the map: named selections, isolated points, undo and redo."""
