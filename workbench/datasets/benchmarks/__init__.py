"""Published data sets, one file per family."""
