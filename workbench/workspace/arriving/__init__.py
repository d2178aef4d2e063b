"""Run folders that any workspace imports."""
