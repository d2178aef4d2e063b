"""The Cost tab."""
