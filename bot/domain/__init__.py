"""The types that all layers use: cases, verdicts, labels, recipients, and reasons not to judge."""
