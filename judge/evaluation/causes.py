"""Causes: what several low replies have in common, named by a model and counted here.

causes = await find_causes(judge.write, {line: justification, ...}, known=("no source",))
causes.counts      # [Cause("no source", (3, 8, 21)), ..., Cause("other", (5,))]
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from judge.errors import BadResponseError, SetupError
from judge.evaluation.labelled import find_scale, to_number
from judge.evaluation.naming import (
    OTHER,
    Decide,
    Write,
    choose_names,
    gives_away,
    load_prompt,
    numbered,
    read_names,
)
from judge.evaluation.stats import low_to
from judge.rows.row_file import Row, RowFile
from judge.scoring.rubric import Scale

FEWEST, MOST = 5, 100
"""The number of low replies from which on causes are asked for, and the most that are sent: the first ones."""
_MOST_NAMES, _MOST_WORDS = 5, 6
_FEWEST_OF_A_CAUSE = 2

_PROMPT = load_prompt("causes.txt")
_MATERIAL = _PROMPT.partition("\n\n")[0]
_QUESTION = (
    "What was wrong with the reply according to reason {}? If none of the names says it, other."
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


async def find_causes(
    write: Write,
    reasons: Mapping[int, str],
    known: Sequence[str] = (),
    decide: Decide | None = None,
    said: Mapping[str, Collection[str]] | None = None,
) -> Causes:
    """Puts low replies into at most five causes, with one request.

    The model names the causes and sorts the replies by number. The rest is counted here: a number
    that was not asked for is dropped, a number given twice counts where it comes first, and what
    has no cause, or shares it with no other reply, is "other". A decision model chooses among the
    known names, in one request for all replies; those that it finds other are then left to `write`.

    Args:
        write, decide: `Judge.write`, and `Judge.decide` if the judge `decides`, or functions like
        them.
        reasons: The judge's reason for each reply, by a key of the caller's, the most important
            first.
        known: Names that are offered to the model first, such as those of the week before.
        said: What people said in these exchanges, as for `gives_away`; a new name that gives one of
            them away is "other".

    Raises:
        SetupError: The judge is the offline rater, or there are fewer than five replies.
        JudgeError: A request failed, the answer names no cause of two replies, or the decision is
            not valid.
    """
    if len(reasons) < FEWEST:
        raise SetupError(
            f"Causes need at least {FEWEST} low replies with a reason, and there are "
            f"{len(reasons)}."
        )
    sent = dict(islice(reasons.items(), MOST))
    cause_of = await _name_all(write, sent, known, decide)
    kept = [
        name for name in _frequent(cause_of) if name in known or not gives_away(name, said or {})
    ]
    return Causes(_counted(sent, cause_of, kept), len(reasons) - len(sent))


def _counted(
    replies: Iterable[int], cause_of: Mapping[int, str], kept: Sequence[str]
) -> list[Cause]:
    """The replies of each kept cause, and of all others together."""
    counts: dict[str, list[int]] = {name: [] for name in (*kept, OTHER)}
    for key in replies:
        cause = cause_of.get(key, OTHER)
        counts[cause if cause in counts else OTHER].append(key)
    return [Cause(name, tuple(keys)) for name, keys in counts.items() if keys]


async def _name_all(
    write: Write, reasons: Mapping[int, str], known: Sequence[str], decide: Decide | None
) -> dict[int, str]:
    """The cause of each reply for which the model has one."""
    offered = [name for name in dict.fromkeys(known) if name != OTHER]
    cause_of = dict[int, str]()
    if decide and offered:
        answers = await choose_names(decide, reasons, offered, _MATERIAL, _QUESTION)
        cause_of = {key: name for key, name in answers.items() if name != OTHER}
    left = {key: reason for key, reason in reasons.items() if key not in cause_of}
    if len(left) >= _FEWEST_OF_A_CAUSE:
        # What a decision left is none of the names that it chose among.
        cause_of |= await _write_names(write, left, () if decide else offered, known)
    return cause_of


def _frequent(cause_of: Mapping[int, str]) -> list[str]:
    """The names that stand for two replies or more."""
    counts = Counter(name for name in cause_of.values() if name != OTHER).most_common(_MOST_NAMES)
    names = [name for name, number in counts if number >= _FEWEST_OF_A_CAUSE]
    if not names:
        raise BadResponseError(
            "The model named no causes: in its answer no name has the numbers of two replies."
        )
    return names


async def _write_names(
    write: Write, reasons: Mapping[int, str], offered: Sequence[str], known: Sequence[str]
) -> dict[int, str]:
    """The cause of each reply that the model's answer names, by the reply's key."""
    names = ", ".join(f'"{name}"' for name in offered)
    prompt = _PROMPT.format(
        most=_MOST_NAMES,
        words=_MOST_WORDS,
        known=f"\nUse these names of the week before where they fit: {names}." if names else "",
        reasons=numbered(reasons.values()),
    )
    answer = await write(prompt)
    named = read_names(answer.text, len(reasons), known, _MOST_WORDS)
    return {key: named[number] for number, key in enumerate(reasons, 1) if number in named}


def read_low(path: Path, rubric: Path | None = None) -> tuple[RowFile, int, Mapping[int, str]]:
    """The file, once read, how many replies have a score with a reason, and the reason by line for
    each with a low score, the newest first.

    Of several rows of one reply, as exports have them, the last one counts.
    """
    file = RowFile.at(path)
    scale: Scale | None = None
    replies = set[object]()
    low: dict[object, tuple[int, str]] = {}  # by reply
    for row in file.rows():
        score = to_number(row.get("score"))
        reason = _reason_of(row)
        if score is None or not reason:
            continue
        scale = scale or find_scale(row, rubric)
        _, reply = row.known_by
        replies.add(reply)
        low.pop(reply, None)
        if score <= low_to(scale):
            low[reply] = (row.line, reason)
    file.require()
    return file, len(replies), dict(reversed(low.values()))


def _reason_of(row: Row) -> str:
    reason = row.get("justification")
    return reason if isinstance(reason, str) and reason.strip() else ""
