"""A damaged workspace: what is damaged, and what its folders bring back."""
