"""The papers' tables, and runs beside them."""
