"""Run folders: a run without a database, its journal, and copies of what the database has of it."""
