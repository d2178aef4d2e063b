"""Work that the window does not wait for: on threads, in the analysis process, and its lines in the Activity panel."""
