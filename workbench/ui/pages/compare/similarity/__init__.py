"""The Similarity tab."""
