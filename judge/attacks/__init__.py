"""Hostile texts: what a response tries on its judge is found, flagged, and kept from closing its part or its turn."""

from judge.attacks.screening import find_flags, nothing_to_judge, too_long
from judge.attacks.tags import neutralise

__all__ = ["find_flags", "neutralise", "nothing_to_judge", "too_long"]
