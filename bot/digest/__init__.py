"""The weekly digest: which week, what the log says of it, and posting it exactly once."""
