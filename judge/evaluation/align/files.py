"""Labelled cases from a file of rows, and a memory in a file beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from judge.errors import SetupError
from judge.evaluation.align.asking import Scored, Scores
from judge.evaluation.align.cases import LabelledCase, to_digest
from judge.rows.batch import samples_of
from judge.rows.files import decode, encode
from judge.rows.line_file import LineFile, Place
from judge.rows.messages import to_prompt
from judge.rows.numbers import Numbers, Range, to_number
from judge.rows.row_file import Row, RowFile
from judge.scoring.judging import Judge
from judge.scoring.rubric import Scale


@dataclass(frozen=True)
class Labelled:
    """The labelled cases of a file.

    Attributes:
        cases: In the order of the file; if a case has blind labels, only these count.
        known: Verdicts of the same judge that are already in the file.
        problems: One sentence for each value that could not be used, with its line number.
    """

    cases: tuple[LabelledCase, ...]
    known: Scores
    problems: tuple[str, ...]


def read_labelled(path: Path, label: str, judge: Judge, label_range: Range | None = None) -> Labelled:
    """The labelled cases of a file that `judge batch` or `judge-bot export` wrote.

    Rows of one case, or with the same texts, are labels of several people, or verdicts of several judges. Cases with
    the same `thread`, or without one the same prompt, are not independent.

    Raises:
        SetupError: The file or the field does not exist, or the labels are on another scale: more than 5% are off the
            rubric's, or without `label_range` none is in its upper half.
    """
    file = RowFile.at(path)
    reader = _Reader(
        label, judge, Numbers(judge.rubric.scale, label_range, file.problems), has_range=label_range is not None
    )
    for row in file.rows():
        reader.add(row)
    file.require(label=label)
    return reader.finish()


@dataclass
class _Item:
    row: Row
    thread: str
    labels: dict[bool, dict[object, tuple[tuple[float, ...], str | None]]] = field(default_factory=dict)
    known: Scored | None = None


class _Reader:
    def __init__(self, label: str, judge: Judge, numbers: Numbers, *, has_range: bool) -> None:
        self._has_range = has_range
        self._label = label
        self._judge = judge
        self._numbers = numbers
        self._items: dict[object, _Item] = {}

    def add(self, row: Row) -> None:
        labels = tuple(self._numbers.labels(row.line, row.get(self._label)))
        prompt, known_by = row.known_by
        item = self._items.setdefault(known_by, _Item(row, row.key("thread") or prompt))
        if labels:
            by, reason = row.key("label_by"), row.key("reason")
            # Without a name, an equal label may come from the same person, so it counts once.
            item.labels.setdefault(row.get("blind") is not False, {}).setdefault(by or labels, (labels, reason))
        item.known = item.known or self._verdict(row)

    def finish(self) -> Labelled:
        self._numbers.check()
        cases, known = [], {}
        for item in self._items.values():
            if not item.labels:
                continue
            is_blind = True in item.labels
            given = item.labels[is_blind]
            try:
                question, response, _ = dialogue = item.row.dialogue
                case = LabelledCase(
                    id=item.row.key("case") or to_digest(to_prompt(question, dialogue.turns), response),
                    thread=item.thread,
                    question=question,
                    response=response,
                    label=fmean(label for labels, _ in given.values() for label in labels),
                    reasons=tuple(reason for _, reason in given.values() if reason),
                    people=tuple(by for by in given if isinstance(by, str)),
                    is_blind=is_blind,
                    conversation=dialogue.conversation,
                    name="" if item.row.get("case") is not None else f"line {item.row.line}",
                )
            except ValueError as exc:
                self._numbers.problems.append(f"line {item.row.line}: {exc}")
                continue
            cases.append(case)
            if item.known:
                known[case.id] = item.known
        _check_range([each.label for each in cases], self._judge.rubric.scale, is_given=self._has_range)
        return Labelled(tuple(cases), known, tuple(self._numbers.problems))

    def _verdict(self, row: Row) -> Scored | None:
        """The row's verdict, if this very judge gave it."""
        judge, rubric = self._judge, self._judge.rubric
        is_ours = (
            row.judge == (judge.escalation or judge.model)
            and row.rubric == (rubric.name, rubric.version)
            and row.get("samples") == samples_of(judge)
            and row.get("status") in ("scored", "unscored")
        )
        if not is_ours:
            return None
        score, mean = to_number(row.get("score")), to_number(row.get("mean"))
        counts = [to_number(row.get(name)) for name in ("input_tokens", "output_tokens")]
        tokens = None if counts[0] is None else int(counts[0] + (counts[1] or 0))
        why = row.get("justification")
        is_scored = score is not None and mean is not None
        return Scored(int(score or 0) if is_scored else None, mean if is_scored else None, str(why or ""), tokens)


def _check_range(labels: Sequence[float], scale: Scale, *, is_given: bool) -> None:
    """Raises SetupError if the labels seem to be on another scale: they would spoil the judge without a sign of it."""
    middle = (scale.low + scale.high) / 2
    if not is_given and labels and max(labels) < middle:
        raise SetupError(
            f"No label is above {max(labels):g}, on a scale from {scale.low} to {scale.high}; say which scale they are "
            f"on, such as --scale 0-1 (or --scale {scale.low}-{scale.high}, if that is right)."
        )


class FileMemory(LineFile):
    """Keeps answers in a JSONL file, one per line."""

    def __init__(self, path: Path) -> None:
        self._values: dict[str, Mapping[str, Any]] = {}
        super().__init__(path, self._take, b'{"key": ', "copy the labels to a file of another name")

    async def get(self, key: str) -> Mapping[str, Any] | None:
        return self._values.get(key)

    async def put(self, key: str, value: Mapping[str, Any]) -> None:
        self._values[key] = value
        self.append(f"{encode({'key': key, 'value': value})}\n".encode())

    def _take(self, number: int, _: Place, raw: bytes) -> None:
        try:
            line = decode(raw)
            key, value = str(line["key"]), dict(line["value"])
            if key.startswith("score/"):
                Scored(**value)
            self._values[key] = value
        except (KeyError, TypeError, ValueError) as exc:
            raise SetupError(f"{self.path}, line {number}: not as judge align wrote it; delete that line.") from exc
