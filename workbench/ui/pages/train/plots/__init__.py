"""The plots of a run side by side, and the options of all of them."""
