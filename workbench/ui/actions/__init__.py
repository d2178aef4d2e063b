"""What a person does with runs: start, repeat and remove them."""
