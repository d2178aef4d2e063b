"""The tabs Queries and Neighbours: two groups, query by query."""
