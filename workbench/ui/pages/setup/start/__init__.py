"""What starts the run: a column beside the form, or a strip below it."""
