"""Causes: what several low replies have in common, named by a model and counted here.

causes = await find_causes(judge.write, {line: justification, ...}, known=("no source",))
causes.counts      # [Cause("no source", (3, 8, 21)), ..., Cause("other", (5,))]
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from judge.errors import BadResponseError, SetupError
from judge.evaluation.labelled import find_scale, to_number
from judge.evaluation.stats import low_to
from judge.rows.row_file import RowFile
from judge.scoring.answers import spoken
from judge.scoring.attacks.marks import neutralise
from judge.scoring.decision import read_choices
from judge.scoring.judging import Written
from judge.scoring.ratings import add_known
from judge.scoring.sanitize import one_line, sanitize

Decide = Callable[[Sequence[Mapping[str, str]], Sequence[Mapping[str, Any]]], Awaitable[Written]]

FEWEST, MOST = 5, 100
"""The number of low replies from which on causes are asked for, and the most that are sent: the first ones."""
OTHER = "other"
_MOST_NAMES, _MOST_WORDS, _LONGEST_NAME = 5, 6, 60
_LONGEST_REASON = 400
_FEWEST_OF_A_CAUSE = 2

_PROMPT = (files("judge.evaluation") / "causes.txt").read_text(encoding="utf-8")
_MATERIAL = _PROMPT.partition("\n\n")[0]
_QUESTION = "What was wrong with the reply according to reason {}? If none of the names says it, other."
_KNOWN = "\nUse these names of the week before where they fit: {names}."
_LINE = re.compile(
    r"\W*(?:\d+[.)]\W+)?(?P<name>[^:\n]*\w[^:\n]*?)[*_`\"]*\s*:[*_]*\s*(?P<numbers>\d+(?:\s*(?:,|and|&|-|–)\s*\d+)*)\s*[.,;]?\s*"
)


class Cause(NamedTuple):
    """A cause, and the keys of the replies that have it, in the order in which they were given."""

    name: str
    replies: tuple[int, ...]


@dataclass(frozen=True)
class Causes:
    """Why replies were scored low: the most frequent cause first, and last "other", if it has any."""

    counts: Sequence[Cause]
    left_out: int  # replies, which were more than one request takes
    tokens: int | None  # of the requests; None if the server counts none

    @property
    def of(self) -> Mapping[int, str]:
        """The cause of each reply."""
        return {key: cause.name for cause in self.counts for key in cause.replies}


async def find_causes(
    write: Callable[[str], Awaitable[Written]],
    reasons: Mapping[int, str],
    known: Sequence[str] = (),
    decide: Decide | None = None,
) -> Causes:
    """Puts low replies into at most five causes, with one request.

    The model names the causes and sorts the replies by number. The rest is counted here: a number that was not asked
    for is dropped, a number given twice counts where it comes first, and what has no cause, or shares it with no other
    reply, is "other". A decision model chooses among the known names, in one request for all replies; those that it
    finds other are then left to `write`.

    Args:
        write, decide: `Judge.write`, and `Judge.decide` if the judge `decides`, or functions like them.
        reasons: The judge's reason for each reply, by a key of the caller's, the most important first.
        known: Names that are offered to the model first, such as those of the week before.

    Raises:
        SetupError: The judge is the offline rater, or there are fewer than five replies.
        JudgeError: A request failed, the answer has no line with a cause, or the decision is not valid.
    """
    if len(reasons) < FEWEST:
        raise SetupError(f"Causes need at least {FEWEST} low replies with a reason, and there are {len(reasons)}.")
    keys = list(reasons)[:MOST]
    offered = [name for name in dict.fromkeys(known) if name != OTHER]
    names, sorted_, tokens = ", ".join(f'"{name}"' for name in offered), dict[str, list[int]](), list[int | None]()
    if decide and offered:
        names, (sorted_, *tokens) = "", await _choose(decide, [reasons[key] for key in keys], offered)
    left = [number for number in range(1, len(keys) + 1) if number not in chain(*sorted_.values())]
    if len(left) >= _FEWEST_OF_A_CAUSE:
        prompt = _PROMPT.format(
            most=_MOST_NAMES,
            words=_MOST_WORDS,
            known=_KNOWN.format(names=names) if names else "",
            reasons=_numbered(reasons[keys[number - 1]] for number in left),
        )
        answer = await write(prompt)
        tokens.append(answer.tokens)
        for name, at in _read(answer.text, len(left), known).items():
            sorted_.setdefault(name, []).extend(left[each - 1] for each in at)
    if not sorted_:
        raise BadResponseError("The model named no causes: no line of its answer has a name, a colon and numbers.")
    kept = {name: numbers for name, numbers in sorted_.items() if len(numbers) >= _FEWEST_OF_A_CAUSE and name != OTHER}
    largest = sorted(kept.items(), key=lambda item: -len(item[1]))[:_MOST_NAMES]
    named = {number for _, numbers in largest for number in numbers}
    rest = [number for number in range(1, len(keys) + 1) if number not in named]
    counts = [
        Cause(name, tuple(keys[number - 1] for number in sorted(numbers)))
        for name, numbers in [*largest, (OTHER, rest)]
        if numbers
    ]
    return Causes(counts, len(reasons) - len(keys), add_known(tokens))


async def _choose(
    decide: Decide, reasons: Sequence[str], known: Sequence[str]
) -> tuple[dict[str, list[int]], int | None]:
    """The numbers of the reasons that have each of these causes, and the tokens that it took."""
    asks_for = {"type": "choice", "choices": [{"value": name} for name in (*known, OTHER)]}
    numbers = range(1, len(reasons) + 1)
    questions = [asks_for | {"name": str(each), "instructions": _QUESTION.format(each)} for each in numbers]
    messages = {"role": "developer", "content": _MATERIAL}, {"role": "user", "content": _numbered(reasons)}
    answer = await decide(messages, questions)
    try:
        chosen = read_choices(answer.text, questions)
    except ValueError as exc:
        raise BadResponseError(f"The decision on the causes is not valid: {exc}.") from exc
    found = [name for name in known if name in chosen.values()]
    return {name: [int(each) for each, its in chosen.items() if its == name] for name in found}, answer.tokens


def _read(text: str, most: int, known: Sequence[str]) -> dict[str, list[int]]:
    """The numbers under each name of the answer, each number once, where it comes first."""
    spellings = {name.casefold(): name for name in known}
    found: dict[str, list[int]] = {}
    taken: set[int] = set()
    for line in spoken(text).splitlines():
        if match := _LINE.fullmatch(line):
            name = _to_name(match["name"])
            ends = re.findall(r"(\d+)(?:\s*[-–]\s*(\d+))?", match["numbers"])
            short = [(first, last or first) for first, last in ends if max(len(first), len(last)) <= len(str(MOST))]
            numbers = [each for first, last in short for each in range(int(first), int(last) + 1)]
            new = [each for each in dict.fromkeys(numbers) if 1 <= each <= most and each not in taken]
            taken.update(new)
            found.setdefault(spellings.setdefault(name.casefold(), name), []).extend(new)
    return found


def _to_name(words: str) -> str:
    shown = " ".join(sanitize(words).split()[:_MOST_WORDS]).strip("*_`\"'#.- ")[:_LONGEST_NAME].rstrip()
    return OTHER if shown.casefold() in {"", OTHER, "others"} else shown


def _numbered(reasons: Iterable[str]) -> str:
    """Each reason on one line, so that it cannot pass for the next one, and without tokens of a chat template."""
    lines = (neutralise(one_line(reason))[:_LONGEST_REASON] for reason in reasons)
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def read_low(path: Path, rubric: Path | None = None) -> tuple[RowFile, Mapping[int, str]]:
    """The file, once read, and the judge's reason by line for each reply with a low score, the newest first.

    Of several rows of one reply, as exports have them, the last one counts.
    """
    file, scale = RowFile.at(path), None
    found: dict[object, tuple[int, str]] = {}
    for row in file.rows():
        score, reason = to_number(row.get("score")), row.get("justification")
        if score is None or not isinstance(reason, str) or not reason.strip():
            continue
        scale = scale or find_scale(row, rubric)
        found.pop(row.known_by[1], None)
        if score <= low_to(scale):
            found[row.known_by[1]] = (row.line, reason)
    file.require()
    return file, dict(reversed(found.values()))
