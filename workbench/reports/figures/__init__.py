"""What a report draws."""
