"""A number, amounts or a change, drawn."""
