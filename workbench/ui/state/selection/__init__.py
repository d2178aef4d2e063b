"""What the window shows and what is chosen: run, evaluation, query, samples, ticked runs."""
