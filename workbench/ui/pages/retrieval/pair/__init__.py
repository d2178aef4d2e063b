"""The query and one of its neighbours side by side, in large, and which parts of them make them similar."""
