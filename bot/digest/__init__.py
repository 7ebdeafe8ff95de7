"""The weekly digest: posting a channel's week exactly once."""
