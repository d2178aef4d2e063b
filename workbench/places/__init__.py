"""Places where runs work beside this machine: what they are, how runs get there, and how they are followed."""
