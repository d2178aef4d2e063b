"""The head of the Train page: the run with its actions, what it waits for, and its numbers."""
