"""The schema: its steps, what a file may declare, and the way back to an older one."""
