"""What a person does with runs: start, repeat, remove, export and import them."""
