"""How groups, tables and plots look on the whole page."""
