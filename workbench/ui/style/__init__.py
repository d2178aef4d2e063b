"""How the window looks and names things: theme, icons, formulas, and words for states and numbers."""
