"""The commands of the window: in menus, in the palette, and the table of their keys."""
