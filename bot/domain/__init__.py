"""What everybody talks about: cases, verdicts."""
