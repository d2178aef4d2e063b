"""The settings of runs, their names, and the runs with the same settings as one group."""
