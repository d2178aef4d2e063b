"""Tables of whole rows: their look, and what is remembered of them."""
