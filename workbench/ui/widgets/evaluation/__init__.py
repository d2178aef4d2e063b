"""The evaluation that the window shows: its epoch, and the hint where there is none."""
