"""Plots of the window: curves over steps or epochs, plots that paint themselves, their menus and files."""
