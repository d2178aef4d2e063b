"""The query and one of its neighbours side by side, enlarged, and which parts of them make them similar."""
