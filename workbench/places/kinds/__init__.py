"""Kinds of places, which start and end runs: one file each, and what they share."""
