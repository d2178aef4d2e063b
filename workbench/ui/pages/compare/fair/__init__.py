"""The Fair ranking tab."""
