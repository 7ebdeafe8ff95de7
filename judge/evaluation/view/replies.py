"""Reads rows of `judge batch` and `judge-bot export` as replies; several rows of one case are one
reply.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.evaluation.labelled import LabelledRows, Range, find_scale
from judge.rows.files import encode, shown
from judge.rows.row_file import Row, RowFile
from judge.rows.sheet import COMPLETION, PROMPT
from judge.scoring.conversation import Turn
from judge.scoring.offline import OFFLINE
from judge.scoring.ratings import Flag, point
from judge.scoring.rubric import Scale


class Version(NamedTuple):
    model: str
    rubric: str
    rubric_version: str
    samples: str
    judge_version: str
    ask: str = ""

    @property
    def name(self) -> str:
        model = f"{OFFLINE} (no model)" if self.model == OFFLINE else self.model
        rubric = f"{self.rubric} ({self.rubric_version})" if self.rubric_version else self.rubric
        samples = ""
        if self.samples:
            samples = f"{self.samples} {'rating' if self.samples == '1' else 'ratings'}"
        parts = [model, rubric, samples, self.ask, self.judge_version]
        return " · ".join(part for part in parts if part) or "unnamed judge"


@dataclass(frozen=True)
class Reply:
    """A reply as figures need it, and as the page shows it.

    Attributes:
        cluster: Shared with replies that are not independent of it.
        shown: Its other fields for the page's script.
        labels: Each with its score, whether it was given blind (None if the file does not say), and
            the reason, if one was given.
    """

    version: Version
    scale: Scale
    score: float | None
    question: str | None  # None if the text is not kept
    cluster: str | None
    judged_at: datetime | None
    topic: str | None
    shown: Mapping[str, Any]
    labels: list[dict[str, Any]] = field(default_factory=list)

    @property
    def miss(self) -> float | None:
        """How far the score is from the mean of all labels; None if one of the two is missing."""
        if self.score is None or not self.labels:
            return None
        return round(abs(self.score - fmean(label["score"] for label in self.labels)), 9)

    @property
    def differs(self) -> bool:
        return (self.miss or 0) >= clear_difference(self.scale)


def clear_difference(scale: Scale) -> float:
    """How far apart a score and a label must be to differ clearly: 2 on a scale from 0 to 5."""
    return 2 * point(scale)


def _to_flag(flag: str) -> str:
    """A flag in words; an unknown flag of a later version is shown unchanged."""
    known = flag.removeprefix("question_")
    if known not in set(Flag):
        return flag
    return f"{'response' if flag == known else 'question'} {Flag(known).words}"


def _to_rating(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    score = fields.get("score")
    words = fields.get("justification") or fields.get("unscored_reason")
    score = score if _is_number(score) else None
    return {"model": _text(fields.get("model")) or "", "score": score, "words": _spaced(words)}


def _ratings(row: Row) -> list[Mapping[str, Any]]:
    return [_to_rating(each) for each in _list(row.get("ratings")) if isinstance(each, dict)]


def _why_unscored(row: Row) -> str:
    detail = _text(row.get("unscored_detail"))
    return detail or _spaced(row.get("unscored_reason")) or "No score."


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    """A text as it is, anything else as JSON; None stays None."""
    return value if value is None or isinstance(value, str) else encode(value)


def _spaced(reason: object) -> str:
    """A reason for programs, such as `no_majority`, as words; a sentence stays as it is."""
    text = _text(reason) or ""
    return text if " " in text else text.replace("_", " ")


def _first(row: Row, names: Iterable[str]) -> str | None:
    values = (row.get(name) for name in names)
    return next((_text(value) for value in values if value is not None), None)


def _texts(row: Row) -> tuple[str | None, str | None, Sequence[Turn]]:
    """The question, the response, and the turns before, as far as they are kept."""
    with suppress(ValueError):
        question, response, _ = dialogue = row.dialogue
        return question, response, dialogue.conversation
    return _first(row, PROMPT), _first(row, COMPLETION), ()


def question_of(row: Row) -> str | None:
    """None if it is not kept."""
    return _texts(row)[0]


_FACTS = {
    "cause": ("Cause", "{}"),
    "topic": ("Topic", "{}"),
    "basis": ("Usable ratings", "{}"),
    "mean": ("Mean of the ratings", "{:.2f}"),
    "input_tokens": ("Tokens in", "{:,}"),
    "output_tokens": ("Tokens out", "{:,}"),
    "cost_usd": ("Cost", "${:.6f}"),
    "latency_ms": ("Model's time", "{:,} ms"),
    "prompt_id": ("Prompt", "{}"),
}


def _facts(row: Row) -> list[tuple[str, str]]:
    facts = []
    for name, (title, form) in _FACTS.items():
        value = row.get(name)
        if value in (None, ""):
            continue
        words = form.format(value) if _is_number(value) or form == "{}" else _text(value)
        facts.append((title, words or ""))
    return facts


MOST_REPLIES = 20_000
"""With more, the page would be slow to open."""
LABEL = "human"
"""The default field with people's labels."""


@dataclass(frozen=True)
class Replies:
    replies: tuple[Reply, ...]
    problems: tuple[str, ...] = ()  # a sentence for each value or line that could not be used
    left_out: int = 0  # older rows, which are not shown


def read_replies(
    path: Path,
    label: str | None = None,
    label_range: Range | None = None,
    rubric: str | Path | None = None,
    limit: int | None = None,
) -> Replies:
    """The replies of a JSONL file, or its last rows up to `limit`, without which more than 20,000
    rows are refused.

    `label` is `human` by default, if the rows have it. `rubric` sets the scale; it is needed for a
    rubric that does not come with the package.
    """
    file = RowFile(path)
    lines, total = _last_lines(file, path, limit)
    rows = list(file.rows(lines))
    file.require()
    file.require(score="score", label=label)
    reader = Reader(file.problems, label or LABEL, label_range, rubric)
    for row in rows:
        reader.add(row.line, row.fields)
    return reader.finish(total - len(lines))


def _last_lines(
    file: RowFile, path: Path, limit: int | None
) -> tuple[Collection[tuple[int, bytes]], int]:
    """The lines to show, and how many the file has."""
    lines = deque[tuple[int, bytes]](maxlen=limit or MOST_REPLIES)  # only these are kept in memory
    total = 0
    for total, line in enumerate(file.lines(), start=1):  # noqa: B007 - counts them
        lines.append(line)
    if limit is None and total > MOST_REPLIES:
        why = f"{total:,} rows are more than the {MOST_REPLIES:,} that a page can hold"
        raise SetupError(
            f"{path}: {why}; say --limit {MOST_REPLIES} for the last of them, or give a sample."
        )
    return lines, total


@dataclass
class Reader:
    """Makes replies from rows, one by one; rows of one judge version and one `case` are labels of
    several people.
    """

    problems: list[str] = field(default_factory=list)
    label: str = LABEL
    label_range: Range | None = None
    rubric: str | Path | None = None
    _scales: dict[tuple[str | None, str | None], Scale] = field(default_factory=dict, init=False)
    _replies: dict[object, Reply] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._labelled = LabelledRows(self.problems, self.label, self.label_range)

    def add(self, line: int, fields: Mapping[str, Any], scale: Scale | None = None) -> None:
        """Takes a row; without `scale`, the row's rubric gives the scale."""
        row = Row(line, fields)
        if scale is None:
            if row.rubric not in self._scales:
                self._scales[row.rubric] = find_scale(row, self.rubric)
            scale = self._scales[row.rubric]
        read = self._labelled.read(row, scale)
        version = Version(*(str(row.get(name) or "") for name in Version._fields))
        case = row.key("case")
        key = line if case is None else (version, case)
        if key not in self._replies:
            name = f"Line {line}" if case is None else f"Case {case}"
            self._replies[key] = self._to_reply(row, name, version, scale, read.score)
        blind = row.get("blind")
        how = {
            "blind": blind if isinstance(blind, bool) else None,
            "reason": _text(row.get("reason")) or "",
        }
        self._replies[key].labels.extend({"score": score, **how} for score in read.labels)

    def finish(self, left_out: int = 0) -> Replies:
        self._labelled.check()
        return Replies(tuple(self._replies.values()), tuple(self.problems), left_out)

    def _to_reply(
        self, row: Row, name: str, version: Version, scale: Scale, score: float | None
    ) -> Reply:
        facts = _facts(row)
        time = self._time(row)
        if time:
            facts.append(("Judged", f"{time:%Y-%m-%d %H:%M} UTC"))
        question, response, before = _texts(row)
        shown = {
            "name": name,
            "response": response,
            "reference": row.reference,
            "before": [(turn.role, turn.text) for turn in before],
            "justification": _text(row.get("justification")),
            "unscored": _why_unscored(row) if score is None else "",
            "ratings": _ratings(row),
            "flags": [_to_flag(str(each)) for each in _list(row.get("flags"))],
            "facts": facts,
        }
        return Reply(
            version=version,
            scale=scale,
            score=score,
            question=question,
            cluster=row.key("thread"),
            judged_at=time,
            topic=row.key("topic"),
            shown=shown,
        )

    def _time(self, row: Row) -> datetime | None:
        value = row.get("judged_at")
        try:
            time = None if value is None else datetime.fromisoformat(str(value))
        except ValueError:
            self.problems.append(f"line {row.line}: judged_at {shown(value)} is not a time")
            return None
        return time and (time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC))
