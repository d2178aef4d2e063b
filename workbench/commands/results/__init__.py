"""Commands about what runs have measured."""
