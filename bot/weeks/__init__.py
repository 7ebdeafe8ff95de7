"""A channel's weeks: when they are, their figures, and what of them a person's Home tab shows."""
