"""The Difference tab: all groups against the baseline, and one of them in detail."""
