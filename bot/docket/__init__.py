"""A case from where it stands to the end."""
