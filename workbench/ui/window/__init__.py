"""The main window around the pages, from its start to its end."""
