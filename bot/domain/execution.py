"""A step of a workflow that waits for its end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Execution:
    """One run of the step, under the id that Slack gave it; it waits until it is completed or failed.

    `quotes` is whether its workflow may be told the justification: that quotes the reply, and a workflow passes on what
    it is told to whomever it was built for.
    """

    id: str
    quotes: bool
