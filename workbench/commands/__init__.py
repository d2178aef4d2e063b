"""Commands of the CLI that have a file of their own, in three rooms; `workbench.cli` joins them."""
