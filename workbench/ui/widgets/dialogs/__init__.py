"""Dialogs: a question with answers, a short text, and a main button for Enter."""
