"""Rows of a file become rows with verdicts: reading, running, batches of the provider, exports."""
