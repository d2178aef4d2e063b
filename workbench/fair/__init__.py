"""The fair comparison of losses: the same search, steps and held-out classes for each, then new seeds on the test set.

Anchors: Musgrave et al. 2020 (A metric learning reality check) and powerful-benchmarker.
"""
