"""All groups against the baseline, in several metrics."""
