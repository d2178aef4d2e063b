"""The column beside the map: legend, classes, and what is selected."""
