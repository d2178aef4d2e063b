"""The form: presets, contents, and the cards of fields."""
