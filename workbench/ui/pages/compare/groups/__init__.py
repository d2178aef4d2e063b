"""The head of the page and the table of groups."""
