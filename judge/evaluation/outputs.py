"""Outputs of `judge batch` as a check reads them."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from judge.errors import SetupError
from judge.evaluation.labelled import LabelledRows, Range
from judge.evaluation.severity import Given
from judge.rows.batch import identity_of
from judge.rows.files import decode, read_lines, shown
from judge.rows.messages import has_reply
from judge.rows.row_file import Row
from judge.scoring.attacks import nothing_to_judge
from judge.scoring.judging import Judge
from judge.scoring.offline import OFFLINE
from judge.scoring.ratings import UnscoredReason

_HINT = (
    "Score the earlier responses again with the present judge, or name people's labels with "
    "--label, to see which judge is closer to them."
)


class OutputRow(NamedTuple):
    """What a comparison takes from a row; texts are hashes, so that large files fit in memory."""

    line: int
    prompt: int  # shared by the rows that are paired
    texts: int | None  # all that the judge got; None if there was no verdict
    answer: int | None  # all that the judge said; None if it always says the same
    score: int | None
    is_judged: bool  # by the judge, not for being empty
    given: Given  # blind labels
    cluster: Hashable
    group: str | None
    question: int  # rows with one prompt_id may have different ones
    words: int  # of the question


@dataclass
class Output:
    """The rows of one output, all of one judge."""

    rows: list[OutputRow] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)
    served: Counter[tuple[str, str]] = field(default_factory=Counter)
    scored: int = 0
    empty: int = 0  # with nothing to judge, counted as the lowest score
    unscored: int = 0  # for other reasons

    def take(self, row: Row, judge: Judge, given: Given, by: str | None) -> None:
        """Counts a row, and keeps what a comparison takes from it."""
        score = row.get("score")
        if score is not None:
            self.scored += 1
        elif _is_empty(row):
            self.empty += 1
            score = judge.rubric.scale.low
        else:
            self.unscored += 1
        self.rows.append(_to_output(row, score, _answer_of(row, judge), given, by))

    @property
    def scored_rows(self) -> list[OutputRow]:
        return [row for row in self.rows if row.score is not None]


def read_output(
    path: Path, judge: Judge, label: str | None, label_range: Range | None, by: str | None
) -> Output:
    """Raises SetupError for rows of another judge, and for labels off the scale.

    Args:
        label: The field with people's labels.
        by: The field whose values are groups.
    """
    scale = judge.rubric.scale
    labels = LabelledRows([], label or "", label_range, scores=())
    output = Output()
    for row in _rows_of(path, judge):
        given: Given = ()
        if label:
            read = labels.read(row, scale)
            given = read.given if read.is_blind else ()
        if labels.problems:
            raise SetupError(
                f"{path}, {labels.problems[0]}; mend it, or say --scale with the labels' own."
            )
        output.fields.update(row.fields)
        output.served.update(row.served)
        output.take(row, judge, given, by)
    return output


def questions_at(path: Path, lines: Collection[int]) -> dict[int, str]:
    """The questions of some lines of an output."""
    return {
        line: Row(line, decode(raw)).dialogue.question
        for line, raw in read_lines(path)
        if line in lines
    }


def _rows_of(path: Path, judge: Judge) -> Iterator[Row]:
    low, high = judge.rubric.scale
    identity = identity_of(judge)
    for line, raw in read_lines(path):
        try:
            row = Row(line, decode(raw))
            _ = row.dialogue
            score = row.score
            if score is not None and score not in range(low, high + 1):
                raise ValueError(f"score {shown(score)} is not a whole number from {low} to {high}")
        except ValueError as exc:
            raise SetupError(
                f"{path}, line {line}: {exc}; give JSONL that 'judge batch' wrote."
            ) from exc
        for name, value in identity.items():
            if row.get(name) != value:
                why = f"judged with {name} {row.get(name)!r}, now {value!r}"
                raise SetupError(
                    f"{path}, line {line}: {why}; scores of two judges do not compare. {_HINT}"
                )
        yield row


def _to_output(
    row: Row, score: int | None, answer: int | None, given: Given, by: str | None
) -> OutputRow:
    is_judged = row.get("score") is not None
    prompt = hash(row.known_by[0])
    words = row.dialogue.question.split()
    return OutputRow(
        line=row.line,
        prompt=prompt,
        texts=hash((row.dialogue, row.reference)) if is_judged else None,
        answer=answer,
        score=score,
        is_judged=is_judged,
        given=given,
        cluster=row.key("thread") or prompt,
        group=row.key(by) if by else None,
        question=hash(tuple(words)),
        words=len(words),
    )


def _answer_of(row: Row, judge: Judge) -> int | None:
    if judge.model == OFFLINE:
        return None
    return hash((row.get("mean"), row.get("justification"), str(row.get("probabilities"))))


def _is_empty(row: Row) -> bool:
    """Whether nothing to judge is the assistant's failure: not if the question is empty, or the
    reply not read.
    """
    if row.get("unscored_reason") != UnscoredReason.NOTHING_TO_JUDGE:
        return False
    messages = row.messages
    question, response, _ = row.dialogue
    is_question = nothing_to_judge(question, "It is an answer.") is None  # to any question
    is_read = messages is None or has_reply(messages)
    return is_question and is_read and nothing_to_judge(question, response) is not None
