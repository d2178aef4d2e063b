"""Runs, their places, and data sets, as tables of the database."""
