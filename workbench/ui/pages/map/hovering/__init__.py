"""What a hovered point shows: its card, and lines to its true neighbours."""
