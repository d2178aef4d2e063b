"""The database itself: how it is opened, checked, locked and brought to the newest schema."""
