"""The judge inside other tools; each tool has its own module, which imports it."""
