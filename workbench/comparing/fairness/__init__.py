"""What makes a comparison unfair or impossible, in sentences."""
