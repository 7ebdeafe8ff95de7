"""A question and a response become a verdict: all that `Judge().score` needs, and nothing else."""
