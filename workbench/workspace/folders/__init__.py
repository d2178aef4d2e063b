"""Run folders: a run without a database, its journal, and how any workspace imports it."""
