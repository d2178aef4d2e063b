"""The Curves tab: the plots, and the evaluations as a table."""
