"""Commands of the CLI that have a file of their own; `workbench.cli` joins them."""
