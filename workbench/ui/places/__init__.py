"""The Places dialog: machines where runs can train, with the result of their checks."""
