"""What a process does."""

from typing import Literal

Role = Literal["front", "worker", "both"]
"""Answer Slack and log cases (front), settle them (worker), or both."""
