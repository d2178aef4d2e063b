"""What makes a map: its method and parameters, reading or computing it, and the progress."""
