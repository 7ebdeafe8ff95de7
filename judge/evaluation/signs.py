"""Signs of what an answer was worth to whoever asked, in what was written after it.

found = await find_signs(judge.write, [Turn("the asker", "How?"), Turn("the assistant", "So."), ...])
found.signs        # Signs(confirmed=True, thanked=False, contested=False, handed_over=False), or None

Source: the four signs of a contested answer (correction, the same asked again, frustration,
challenge) are those of Arize Phoenix's user frustration evaluator.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.scoring.answers import spoken
from judge.scoring.attacks.marks import neutralise
from judge.scoring.conversation import Turn, bounded
from judge.scoring.judging import Written
from judge.scoring.sanitize import one_line

_PROMPT = Path(__file__).with_name("signs.txt").read_text(encoding="utf-8")
_LONGEST = 2_100  # characters of a message, which `bounded` has shortened already
_NAMES = "confirmed", "thanked", "contested", "handed over"
_LINE = re.compile(
    r"\W*(?P<name>confirmed|thanked|contested|handed over)\W*:\W*(?P<word>yes|no)\W*"
)


@dataclass(frozen=True)
class Signs:
    """What the messages after an answer show, in doubt not."""

    confirmed: bool
    thanked: bool
    contested: bool
    handed_over: bool


@dataclass(frozen=True)
class FoundSigns:
    """The signs, None if the model's answer cannot be read for certain; and the tokens it took."""

    signs: Signs | None
    tokens: int


async def find_signs(
    write: Callable[[str], Awaitable[Written]], thread: Sequence[Turn]
) -> FoundSigns:
    """Asks a model for the signs in a thread, with one request.

    Args:
        write: `Judge.write`, or a function like it.
        thread: The messages from the question on, with the roles "the asker", "the assistant" and
            "a colleague".

    Raises:
        JudgeError: The request failed.
    """
    lines = [
        f"{turn.role}: {one_line(neutralise(turn.text), _LONGEST)}" for turn in bounded(thread)
    ]
    answer = await write(_PROMPT.format(thread="\n".join(lines)))
    return FoundSigns(read_signs(answer.text), answer.tokens or 0)


def read_signs(text: str) -> Signs | None:
    """The signs that an answer names, each once with yes or no; None for any other answer."""
    found = dict[str, bool]()
    for line in spoken(text).lower().splitlines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None or match["name"] in found:
            return None
        found[match["name"]] = match["word"] == "yes"
    if len(found) < len(_NAMES):
        return None
    # An answer that was confirmed and contested is neither for certain.
    is_both = found["confirmed"] and found["contested"]
    return Signs(
        confirmed=found["confirmed"] and not is_both,
        thanked=found["thanked"],
        contested=found["contested"] and not is_both,
        handed_over=found["handed over"],
    )
