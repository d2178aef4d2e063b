"""What a person types or chooses in, with its caption, one a file."""
