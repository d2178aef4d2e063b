"""Analyses of a stored evaluation: why queries fail, which classes are confused, which images are similar.

For the window, the command line, reports and exports alike: no Qt here, and no torch before it is needed.
"""
