"""Runs side by side: groups over seeds, what differs, metrics, paired differences with intervals. No Qt, no torch."""
