"""The System tab: where the time of a step goes, and how busy the machine was."""
