"""From a config to its runs, and one run from its first step to its last checkpoint."""
