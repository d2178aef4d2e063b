"""One file per format of a report, and what they share."""
