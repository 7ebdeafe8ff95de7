"""Rows of JSONL, as `judge batch` and `judge-bot export` write them, as replies; several rows of one case are one."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judge.errors import SetupError
from judge.jsonl import COMPLETION, PROMPT, decode_lines, no_object, read_lines, shown
from judge.numbers import Numbers, Range, find_scale, rubric_of, to_probability
from judge.rubric import Scale
from judge.view.replies import Label, Reply, Version, spaced, to_facts, to_flags, to_ratings, to_text

MOST_REPLIES = 20_000
"""More would make a page that is slow to open."""
LABEL = "human"
"""The field with people's labels, where none is named."""


@dataclass(frozen=True)
class Replies:
    """What a page shows.

    Attributes:
        replies: In the order of the file.
        problems: One sentence for each value or line that could not be used.
        left_out: How many older rows the file has.
    """

    replies: tuple[Reply, ...]
    problems: tuple[str, ...] = ()
    left_out: int = 0


def read_replies(
    path: Path,
    label: str | None = None,
    label_range: Range | None = None,
    rubric: str | Path | None = None,
    limit: int | None = None,
) -> Replies:
    """The replies of a file of JSONL.

    Args:
        path: The file.
        label: The field with people's labels; `human` by default, where the rows have it.
        label_range: The labels' lowest and highest value, where it is not the rubric's scale.
        rubric: Gives the scale where the rows name no rubric that comes with the package.
        limit: Takes so many rows, the last ones; without it, a file of more than 20,000 is refused.

    Raises:
        SetupError: No such file or field, too many rows, or more than 5% of the numbers off the scale.
        RubricError: No such rubric, or a file that is not one.
    """
    lines, total = _last_lines(path, limit or MOST_REPLIES)
    if limit is None and total > MOST_REPLIES:
        raise SetupError(
            f"{path}: {total:,} rows are more than the {MOST_REPLIES:,} that a page can hold; say --limit "
            f"{MOST_REPLIES} for the last of them, or give a sample."
        )
    problems: list[str] = []
    rows = list(decode_lines(lines, problems))
    if not rows:
        raise no_object(problems)
    _check_fields(rows, label)
    reader = Reader(problems, label or LABEL, label_range, rubric)
    for line, row in rows:
        reader.add(line, row)
    return reader.finish(total - len(lines))


def _last_lines(path: Path, number: int) -> tuple[Sequence[tuple[int, bytes]], int]:
    """The last lines, each with its number, and how many there are in all; no more than these are held."""
    kept = deque[tuple[int, bytes]](maxlen=number)
    total = 0
    for line, _, raw in read_lines(path):
        kept.append((line, raw))
        total += 1
    return list(kept), total


def _check_fields(rows: Iterable[tuple[int, Mapping[str, Any]]], label: str | None) -> None:
    names = dict.fromkeys(name for _, row in rows for name in row)
    if "score" not in names:
        found = f"; the fields are {', '.join(names)}" if names else ""
        raise SetupError(f"No line has a score{found}. Give the JSONL that `judge batch` or `judge-bot export` writes.")
    if label is not None and label not in names:
        raise SetupError(f"--label {label}: no line has this field; the fields are {', '.join(names)}.")


class Reader:
    """Makes replies of rows, one by one; rows of one judge version and one `case` are labels of several people."""

    def __init__(
        self,
        problems: list[str] | None = None,
        label: str = LABEL,
        label_range: Range | None = None,
        rubric: str | Path | None = None,
    ) -> None:
        self._problems = [] if problems is None else problems
        self._label = label
        self._label_range = label_range
        self._rubric = rubric
        self._scales: dict[tuple[str | None, str | None], Scale] = {}
        self._numbers: dict[Scale, Numbers] = {}
        self._replies: dict[object, Reply] = {}

    def add(self, line: int, row: Mapping[str, Any], scale: Scale | None = None) -> None:
        """Takes a row; without `scale`, its rubric gives it.

        Raises:
            SetupError: It names a rubric that does not come with the package, and none was given.
            RubricError: No such rubric, or a file that is not one.
        """
        scale = scale or self._find_scale(row)
        numbers = self._numbers.setdefault(scale, Numbers(scale, self._label_range, self._problems))
        version, case = Version.of(row), row.get("case")
        key = line if case is None else (version, str(case))
        reply = self._replies.get(key)
        if reply is None:
            name = f"Line {line}" if case is None else f"Case {case}"
            score = numbers.score(line, row.get("score"))
            reply = self._replies[key] = self._to_reply(line, row, name, version, scale, score)
        labels = list(numbers.labels(line, row.get(self._label)))
        if labels:
            more = (row.get("blind") is not False, to_text(row.get("reason")) or "", self._probability(line, row))
            reply.labels.extend(Label(each, *more) for each in labels)

    def finish(self, left_out: int = 0) -> Replies:
        """All replies so far.

        Raises:
            SetupError: More than 5% of the scores, or of the labels, are off the scale.
        """
        for numbers in self._numbers.values():
            numbers.check()
        return Replies(tuple(self._replies.values()), tuple(self._problems), left_out)

    def _find_scale(self, row: Mapping[str, Any]) -> Scale:
        """The scale of the rubric that was given, else of the one that the row names, else of the default rubric."""
        named = rubric_of(row)
        if named not in self._scales:
            self._scales[named] = find_scale(row, self._rubric)
        return self._scales[named]

    def _to_reply(
        self, line: int, row: Mapping[str, Any], name: str, version: Version, scale: Scale, score: float | None
    ) -> Reply:
        cluster = row.get("thread")
        time = self._time(line, row.get("judged_at"))
        judged = (("Judged", f"{time:%Y-%m-%d %H:%M} UTC"),) if time else ()
        return Reply(
            name=name,
            version=version,
            scale=scale,
            score=score,
            question=_first_text(row, PROMPT),
            response=_first_text(row, COMPLETION),
            justification=to_text(row.get("justification")) or "",
            unscored=_why(row) if score is None else "",
            ratings=to_ratings(row.get("ratings")),
            cluster=None if cluster is None else str(cluster),
            flags=to_flags(row.get("flags")),
            judged_at=time,
            facts=(*to_facts(row), *judged),
        )

    def _probability(self, line: int, row: Mapping[str, Any]) -> float | None:
        value = row.get("probability")
        probability = to_probability(value)
        if probability is None and value is not None:
            self._problems.append(f"line {line}: probability {shown(value)} is not from 1e-9 to 1")
        return probability

    def _time(self, line: int, value: object) -> datetime | None:
        if value is None:
            return None
        try:
            time = datetime.fromisoformat(str(value))
        except ValueError:
            self._problems.append(f"line {line}: judged_at {shown(value)} is not a time")
            return None
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _first_text(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((to_text(row[name]) for name in names if row.get(name) is not None), None)


def _why(row: Mapping[str, Any]) -> str:
    """Why the row has no score, in words."""
    return to_text(row.get("unscored_detail")) or spaced(row.get("unscored_reason")) or "No score."
