"""Scores a share of an assistant's replies by itself, where a channel watches it."""
