"""Dialogs: a question with answers, a text, and a main button for Enter."""
