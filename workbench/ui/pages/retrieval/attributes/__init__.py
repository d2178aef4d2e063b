"""The view Attributes of the Retrieval page: from each value of an attribute to each."""
