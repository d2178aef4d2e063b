"""The run that is set up, without widgets: its draft, the fields, and the verdict on it."""
