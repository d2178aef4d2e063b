"""The Label triage view of the Retrieval page."""
