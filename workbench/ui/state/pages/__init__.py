"""The pages before they are shown: what is known of each, and how they are made and turned to."""
