"""Curves of training, as they were logged and smoothed."""
