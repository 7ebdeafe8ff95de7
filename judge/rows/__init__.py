"""Rows of a file become rows with verdicts: reading, running, exports."""
