"""What everybody talks about: cases, verdicts, labels, recipients, and why there is nothing to judge."""
