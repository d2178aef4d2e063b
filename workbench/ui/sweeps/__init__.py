"""Sweeps in the window: the dialog that starts one, and the panel that shows and steers them."""
