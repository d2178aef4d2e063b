"""The data of the run: found, shown in pictures, looked at in a dialog."""
