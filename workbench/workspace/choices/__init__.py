"""What the person decided: labels, tags, selections, saved views and report templates."""
