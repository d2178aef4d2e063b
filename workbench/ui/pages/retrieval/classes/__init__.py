"""The classes of an evaluation on the Retrieval page: bars and confusions."""
