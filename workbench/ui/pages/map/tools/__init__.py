"""The tools above the map: commands, their buttons, and the warning about doubtful groups."""
