"""What a report says, as plain data that is read from the workspace."""
