"""The judge core: a question and a response become a verdict."""
