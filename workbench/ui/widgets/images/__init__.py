"""Images by sample id: loaded, located where they were moved, and shown as neighbours."""
