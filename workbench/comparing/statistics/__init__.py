"""Intervals of means and differences, and their p-values."""
