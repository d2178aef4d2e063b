"""A machine that takes commands, this one or one behind OpenSSH, and the files on it."""
