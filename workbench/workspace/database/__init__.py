"""The database itself: how it is opened, read and checked."""
