"""Preference pairs from scored rows: for each prompt its best response against its worst."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from judge.errors import SetupError
from judge.jsonl import COMPLETION, PROMPT, decode, encode, judge_of, read_lines, text_of

Key: TypeAlias = str | bytes
_LOOKED_AT = 10_000
_JUDGE = ("rubric_version", "samples")


class Scored(NamedTuple):
    """One scored row: where it stands in the file, and what it takes to rank it. `prompt` is a digest."""

    line: int
    start: int
    key: Key
    prompt: bytes
    score: float


@dataclass(slots=True)
class Ranking:
    """The best and the worst response to one prompt, by the bytes where their rows start."""

    first_line: int
    prompt: bytes
    best_score: float
    best_start: int
    worst_score: float
    worst_start: int
    responses: int = 1

    def add(self, row: Scored) -> None:
        """Ranks one more response; of several with the same score, the first in the file stays."""
        self.responses += 1
        if row.score > self.best_score:
            self.best_score, self.best_start = row.score, row.start
        if row.score < self.worst_score:
            self.worst_score, self.worst_start = row.score, row.start


@dataclass
class Counts:
    """What became of the rows: `pairs`, `ties` and `alone` count prompts, the others lines."""

    pairs: int = 0
    ties: int = 0
    alone: int = 0
    unscored: int = 0
    malformed: int = 0


def make_pairs(source: Path, report: Callable[[str], None], counts: Counts) -> Iterator[str]:
    """The pairs of a scored file as JSON, in the order in which its prompts first appear.

    Rows belong together by `prompt_id`, and by the prompt itself where they have none. Per prompt some 400 bytes are
    held, whatever the length of the texts; the file is read a second time for these.

    Args:
        source: Rows with prompt, completion and score, in any order; a score of null is unscored.
        report: Gets one plain sentence for each line that is no such row; it is skipped.
        counts: Is filled in as the pairs are made.

    Raises:
        SetupError: One `prompt_id` stands for two prompts, or two judges gave the scores.
    """
    rankings: dict[Key, Ranking] = {}
    for row in _read_scored(source, report, counts):
        ranking = rankings.get(row.key)
        if ranking is None:
            rankings[row.key] = Ranking(row.line, row.prompt, row.score, row.start, row.score, row.start)
        elif row.prompt == ranking.prompt:
            ranking.add(row)
        else:
            raise SetupError(
                f"{source}: prompt_id {row.key!s} has one prompt in line {ranking.first_line} and another in line "
                f"{row.line}; give each prompt an id of its own."
            )
    with source.open("rb") as file:
        for ranking in rankings.values():
            if ranking.best_score > ranking.worst_score:
                counts.pairs += 1
                yield encode(_to_pair(_fields_at(file, ranking.best_start), _fields_at(file, ranking.worst_start)))
            elif ranking.responses > 1:
                counts.ties += 1
            else:
                counts.alone += 1


def has_pair(source: Path) -> bool:
    """Whether there is a pair among the first 10,000 scored rows."""
    first: dict[Key, Scored] = {}
    for row in islice(_read_scored(source, lambda _: None, Counts()), _LOOKED_AT):
        other = first.setdefault(row.key, row)
        if other.prompt != row.prompt:
            return False
        if other.score != row.score:
            return True
    return False


def _read_scored(source: Path, report: Callable[[str], None], counts: Counts) -> Iterator[Scored]:
    judges: dict[str, int] = {}
    for line, start, raw in read_lines(source):
        try:
            fields = decode(raw)
            row = _to_scored(line, start, fields)
        except ValueError as exc:
            counts.malformed += 1
            report(f"line {line}: {exc}; skipped.")
            continue
        _check_judge(source, line, fields, judges)
        if row is None:
            counts.unscored += 1
        else:
            yield row


def _to_scored(line: int, start: int, fields: Mapping[str, Any]) -> Scored | None:
    prompt = blake2b(text_of(fields, PROMPT).encode(), digest_size=16).digest()
    text_of(fields, COMPLETION)
    if "score" not in fields:
        raise ValueError("no score; 'judge batch' adds them")
    score = fields["score"]
    if score is None:
        return None
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not is_number or (isinstance(score, float) and not math.isfinite(score)):
        raise ValueError("the score is no number")
    given_id = fields.get("prompt_id")
    return Scored(line, start, prompt if given_id is None else encode(given_id), prompt, score)


def _check_judge(source: Path, line: int, fields: Mapping[str, Any], judges: dict[str, int]) -> None:
    # Without a rubric the row is not ours, and its `model` may well be the one that wrote the response.
    parts = {"model": judge_of(fields)} | {name: fields.get(name) for name in _JUDGE}
    judge = ", ".join(f"{name} {part}" for name, part in parts.items()) if "rubric_version" in fields else "another"
    judges.setdefault(judge, line)
    if len(judges) > 1:
        (one, first), (other, second) = judges.items()
        raise SetupError(
            f"{source}: two judges gave these scores ({one} in line {first}; {other} in line {second}), and "
            "theirs do not compare; make pairs of each judge's rows alone."
        )


def _fields_at(file: BinaryIO, start: int) -> dict[str, Any]:
    file.seek(start)
    return decode(file.readline())


def _to_pair(best: Mapping[str, Any], worst: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt_id": best.get("prompt_id"),
        "prompt": text_of(best, PROMPT),
        "chosen": text_of(best, COMPLETION),
        "rejected": text_of(worst, COMPLETION),
        "score_chosen": best["score"],
        "score_rejected": worst["score"],
    }
