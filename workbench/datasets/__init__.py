"""Data sets: one file per family; splits, samplers, augmentation; images decoded once and looked up by id."""
