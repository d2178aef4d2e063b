"""Commands that train, here, in sweeps and at places, and that take in what was trained."""
