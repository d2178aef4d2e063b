"""The Curves tab."""
