"""What a visitor may try, listed in the page and ticked once the journal shows that it was done."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pocket_slack.journal import Entry, Journal
from pocket_slack.model import Json


@dataclass
class Step:
    """One step.

    Attributes:
        text: What to do, in mrkdwn.
        done: A part of the journal's entry that shows that it was done, such as
            `{"kind": "envelope", "payload": {"command": "/help"}}`. Texts are regular expressions
            for the whole text.
        is_done: Whether there was such an entry.
    """

    text: str
    done: Json
    is_done: bool = False

    def to_json(self) -> Json:
        """The step for the page."""
        return {"text": self.text, "is_done": self.is_done}


class Steps:
    """The steps of a workspace; none unless some are given."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.all: Sequence[Step] = ()

    def begin(self, steps: Sequence[Step]) -> None:
        """Lists these steps, and ticks each from now on."""
        if steps and not self.all:
            self._journal.watch(self._tick)
        self.all = steps

    def to_json(self) -> list[Json]:
        """The steps for the page."""
        return [step.to_json() for step in self.all]

    def _tick(self, entry: Entry) -> None:
        done = [
            step for step in self.all if not step.is_done and is_part(step.done, entry.to_json())
        ]
        for step in done:
            step.is_done = True
        if done:
            self._journal.record("steps", steps=self.to_json())


def is_part(wanted: Any, found: Any) -> bool:
    """Whether `found` has all that `wanted` has; of a list, each of its items in some item."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and is_part(one, found[key]) for key, one in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and all(
            any(is_part(one, item) for item in found) for one in wanted
        )
    if isinstance(wanted, str) and isinstance(found, str):
        return re.fullmatch(wanted, found, re.DOTALL) is not None
    return bool(wanted == found)
