"""Labelled cases from a file of rows, and what is remembered of them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from judge.errors import SetupError
from judge.evaluation.align.asking import CaseScore, CaseScores
from judge.evaluation.align.cases import LabelledCase, to_digest
from judge.evaluation.labelled import LabelledRows, Range, to_number
from judge.evaluation.severity import Given
from judge.rows.batch import identity_of
from judge.rows.files import decode, encode, os_reason, private, read_lines
from judge.rows.line_file import LineFile
from judge.rows.messages import to_prompt
from judge.rows.row_file import Row, RowFile
from judge.scoring.attacks.folding import fold
from judge.scoring.judging import Judge


def read_labelled(
    path: Path, label: str, judge: Judge, label_range: Range | None = None
) -> tuple[Sequence[LabelledCase], CaseScores, Sequence[str]]:
    """The labelled cases of a file that `judge batch` or `judge-bot export` wrote, and verdicts
    that this judge gave.

    Also, a sentence for each value that could not be used. If a case has blind labels, only these
    count. Rows of one case, or with the same texts, are labels of several people, or verdicts of
    several judges. Cases with the same `thread`, or without one the same prompt, are not
    independent.

    Raises:
        SetupError: The file or the field does not exist, or the labels are on another scale: more
            than 5% are off the rubric's, or without `label_range` none is in its upper half.
    """
    file, scale = RowFile.at(path), judge.rubric.scale
    labelled = LabelledRows(file.problems, label, label_range, scores=())
    items: dict[object, _Item] = {}
    for row in file.rows():
        read, (prompt, known_by) = labelled.read(row, scale), row.known_by
        item = items.setdefault(known_by, _Item(row, row.key("thread") or _plain(prompt)))
        if read.labels:
            item.labels.setdefault(read.is_blind, {}).setdefault(
                read.person, (read.given, row.key("reason"))
            )
        item.known = item.known or _verdict(row, judge)
    file.require(label=label)
    labelled.check()
    cases, known = list[LabelledCase](), dict[str, CaseScore]()
    for item in (each for each in items.values() if each.labels):
        try:
            case = item.to_case()
        except ValueError as exc:
            file.problems.append(f"line {item.row.line}: {exc}")
            continue
        cases.append(case)
        known |= {case.id: item.known} if item.known else {}
    # Labels that seem to be on another scale would spoil the judge without a sign of it.
    if (
        label_range is None
        and cases
        and (most := max(each.label for each in cases)) < sum(scale) / 2
    ):
        raise SetupError(
            f"No label is above {most:g}, on a scale from {scale.low} to {scale.high}; say which "
            f"scale they are on, such as --scale 0-1 (or --scale {scale.low}-{scale.high}, if "
            "that is right)."
        )
    return cases, known, file.problems


@dataclass
class _Item:
    row: Row
    thread: str
    labels: dict[bool, dict[object, tuple[Given, str | None]]] = field(default_factory=dict)
    known: CaseScore | None = None

    def to_case(self) -> LabelledCase:
        """The case; it has a label. Raises ValueError as `Row.dialogue`."""
        is_blind = True in self.labels
        given = self.labels[is_blind]
        question, response, _ = dialogue = self.row.dialogue
        return LabelledCase(
            id=self.row.key("case") or to_digest(to_prompt(question, dialogue.turns), response),
            thread=self.thread,
            question=question,
            response=response,
            label=fmean(label for labels, _ in given.values() for _, label in labels),
            reasons=tuple(reason for _, reason in given.values() if reason),
            people=tuple(by for labels, _ in given.values() for by, _ in labels if by),
            is_blind=is_blind,
            conversation=dialogue.conversation,
            content=to_digest(_plain(to_prompt(question, dialogue.turns)), _plain(response)),
            reference=self.row.reference,
            name="" if self.row.get("case") is not None else f"line {self.row.line}",
        )


def _plain(text: str) -> str:
    return "".join(fold(text).split())


def _verdict(row: Row, judge: Judge) -> CaseScore | None:
    """The row's verdict, if this very judge gave it."""
    if row.get("status") is None or any(
        row.get(name) != value for name, value in identity_of(judge).items()
    ):
        return None
    names = "score", "mean", "input_tokens", "output_tokens"
    score, mean, tokens, more = (to_number(row.get(name)) for name in names)
    is_scored = score is not None and mean is not None
    return CaseScore(
        score=int(score or 0) if is_scored else None,
        mean=mean if is_scored else None,
        justification=str(row.get("justification") or ""),
        tokens=None if tokens is None else int(tokens + (more or 0)),
    )


def _to_line(key: str, value: Mapping[str, Any]) -> bytes:
    return f"{encode({'key': key, 'value': value})}\n".encode()


def _from_line(path: Path, number: int, raw: bytes) -> tuple[str, Mapping[str, Any]]:
    try:
        line = decode(raw)
        key, value = str(line["key"]), dict(line["value"])
        if key.startswith("score/"):
            CaseScore(**value)
        return key, value
    except (KeyError, TypeError, ValueError) as exc:
        raise SetupError(
            f"{path}, line {number}: not as judge align wrote it; delete that line."
        ) from exc


_OF_LABELS = {"parts", "attempts"}


class FileMemory(LineFile):
    """Keeps answers in a JSONL file, one per line.

    What belongs to the labels, in whatever file they are, is kept in one of the user's folders,
    too. `trouble` says why that was not possible.
    """

    def __init__(self, path: Path) -> None:
        self._values: dict[str, Mapping[str, Any]] = {}
        home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        self._shared = Path(home, "slack-judge", "align.jsonl")
        self.trouble = ""
        super().__init__(path, self._take, b'{"key": ', "copy the labels to a file of another name")

    async def get(self, key: str) -> Mapping[str, Any] | None:
        found = self._values.get(key)
        if key in _OF_LABELS and self._shared.exists():
            for number, raw in read_lines(self._shared):
                name, value = _from_line(self._shared, number, raw)
                found = {**(found or {}), **value} if name == key else found
        return found

    async def put(self, key: str, value: Mapping[str, Any]) -> None:
        known = await self.get(key) or {}
        self._values[key] = value
        self.append(_to_line(key, value))
        if key in _OF_LABELS:
            self._share(
                _to_line(
                    key, {name: each for name, each in value.items() if known.get(name) != each}
                )
            )

    def _share(self, raw: bytes) -> None:
        try:
            self._shared.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(
                self._shared, "ab", opener=private
            ) as shared:  # at once, whatever other processes write
                shared.write(raw)
        except OSError as exc:
            why = f"{self._shared} cannot be written ({os_reason(exc)})"
            self.trouble = (
                f"Careful: only {self.path} remembers what was tried on these labels, since {why}."
            )

    def _take(self, number: int, _: int, raw: bytes) -> None:
        self._values.update([_from_line(self.path, number, raw)])
