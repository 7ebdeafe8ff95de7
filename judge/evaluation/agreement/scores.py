"""Scored responses and the labels that people gave them, read from JSONL."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from judge.errors import SetupError
from judge.evaluation.estimate import Corrected, Response, correct
from judge.evaluation.labelled import LabelledRow, LabelledRows, Range, find_scale, to_probability
from judge.rows.files import shown
from judge.rows.row_file import Row, RowFile
from judge.scoring.rubric import Rubric, Scale

_WEEK = "week"
_TIME = "judged_at"

# What identifies a judge: model, rubric, rubric version, the field of the score.
_Key = tuple[str, ...]


@dataclass(frozen=True)
class Scores:
    responses: tuple[Response, ...]  # with labels or without
    judges: tuple[str, ...]
    scale: Scale  # of the scores, and of the labels after mapping
    problems: tuple[str, ...]  # a sentence for each value that could not be used
    repeats: int  # scores and labels in conflict with an earlier line, which counts

    def corrected(self, judge: str) -> Corrected | None:
        """What people would say of all responses that a judge scored; None if there are none."""
        return correct(self.responses, judge, self.scale)


@dataclass(frozen=True)
class Columns:
    """The fields to read: label, scores and group; the range of the labels if it is not the
    rubric's.
    """

    label: str
    scores: tuple[str, ...] = ("score",)
    label_range: Range | None = None
    group: str | None = None
    labels: Path | None = None  # a file of labels beside the rows, as `judge label` writes it
    takes_other_judge: bool = False  # a model that answered under several names is one judge


def read_scores(path: Path, columns: Columns, rubric: Rubric | str | Path | None = None) -> Scores:
    """The scores and labels in a JSONL file.

    A response is identified by its `case`, or without one by its prompt (`prompt_id`, `prompt` or
    `question`) and its text (`completion` or `response`); without these, each line is a response of
    its own. A judge is identified by `model`, `rubric`, `rubric_version` and the score's field, as
    far as these differ in the file. `rubric` sets the scale; it is needed if the rows name a rubric
    that does not come with the package.
    """
    file = RowFile(path)
    rows = _read_rows(file, columns)
    scale = _common_scale(rows, rubric)
    labelled = LabelledRows(file.problems, columns.label, columns.label_range, columns.scores)
    items, repeats = _merge((labelled.read(row, scale) for row in rows), columns.group)
    labelled.check(takes_other_judge=columns.takes_other_judge)
    names = _names(dict.fromkeys(judge for item in items for judge in item.scores))
    responses = tuple(item.to_response(names) for item in items)
    return Scores(responses, tuple(names.values()), scale, tuple(file.problems), repeats)


def _read_rows(file: RowFile, columns: Columns) -> list[Row]:
    """The rows of the file, and those of the labels beside it; raises SetupError if one of the
    columns is missing.
    """
    rows = list(file.rows())
    if columns.labels:
        beside = RowFile(columns.labels)
        rows += beside.rows()
        file.problems += (f"{columns.labels}, {each}" for each in beside.problems)
        file.names |= beside.names
    for name in columns.scores:
        file.require(score=name)
    by_time = columns.group == _WEEK and _TIME in file.names
    file.require(label=columns.label, by=None if by_time else columns.group)
    return rows


def _common_scale(rows: Sequence[Row], rubric: Rubric | str | Path | None) -> Scale:
    named = {row.rubric: row for row in rows if row.rubric[0]} or {(None, None): rows[0]}
    scale, *others = dict.fromkeys(find_scale(row, rubric) for row in named.values())
    if others:
        all_scales = ", ".join(f"{low} to {high}" for low, high in (scale, *others))
        raise SetupError(
            f"The file holds scores on different scales ({all_scales}); compare one scale "
            "at a time."
        )
    return scale


def _names(judges: Iterable[_Key]) -> dict[_Key, str]:
    """A name for each judge, of the parts in which they differ."""
    keys = list(judges)
    telling = [part for part in range(4) if len({judge[part] for judge in keys}) > 1]
    names = {}
    for judge in keys:
        words = " ".join(judge[part] for part in telling or [0] if judge[part])
        names[judge] = words or ("unnamed" if telling else judge[3])
    return names


@dataclass(slots=True)
class _Item:
    """What the rows say about one response. Rows of several judges repeat a person's labels."""

    row: Row  # the first one
    group: str | None
    scores: dict[_Key, float | None] = field(default_factory=dict)
    labels: dict[object, LabelledRow] = field(default_factory=dict)  # by person

    def to_response(self, names: Mapping[_Key, str]) -> Response:
        given: list[float] = []
        blind: list[tuple[str, float]] = []
        probability = 1.0
        for read in self.labels.values():
            given += read.labels
            if read.is_blind:
                blind += read.given
                probability = to_probability(read.row.get("probability")) or 1.0
        times_drawn = self.row.get("times_drawn")
        return Response(
            prompt=self.row.known_by[0],
            scores={names[judge]: score for judge, score in self.scores.items()},
            labels=tuple(given),
            group=self.group,
            blind=blind,
            probability=probability,
            thread=self.row.key("thread"),
            stratum=self.row.key("stratum"),
            times_drawn=times_drawn if isinstance(times_drawn, int) and times_drawn > 1 else 1,
        )


def _merge(rows: Iterable[LabelledRow], group: str | None) -> tuple[Collection[_Item], int]:
    """The responses that the rows are of, and the number of scores and labels in conflict with an
    earlier row.
    """
    items: dict[object, _Item] = {}
    repeats = 0
    drawn: list[Row] = []
    for read in rows:
        row = read.row
        known_by = row.known_by[1]
        source = tuple(str(part or "") for part in (row.judge, *row.rubric))
        item = items.setdefault(known_by, _Item(row, _group_of(row, group) if group else None))
        for column, score in read.scores.items():
            judge = (*source, column)
            first = item.scores.get(judge)
            item.scores[judge] = score if first is None else first
            if score is not None and score != item.scores[judge]:
                repeats += 1
        if read.labels:
            # In the order of their labels, which shows whether a person has become stricter.
            items[known_by] = items.pop(known_by)
            earlier = item.labels.setdefault(read.person, read)
            if earlier.given != read.given:
                repeats += 1
            if read.is_blind:
                drawn.append(row)
    _check_probabilities(drawn)
    return items.values(), repeats


def _group_of(row: Row, field_name: str) -> str | None:
    """The field's value; without a field `week`, the week in which the row was judged."""
    value = row.key(field_name)
    if value is None and field_name == _WEEK:
        with suppress(ValueError):  # not a time
            return f"{datetime.fromisoformat(row.key(_TIME) or ''):%G-W%V}"
    return value


def _check_probabilities(drawn: Sequence[Row]) -> None:
    """Raises SetupError unless all rows with a blind label say how likely their draw was, or none."""
    if all(row.get("probability") is None for row in drawn):
        return
    for row in drawn:
        if to_probability(row.get("probability")) is None:
            raise SetupError(
                f"line {row.line}: probability is {shown(row.get('probability'))}; give the "
                "probability with which this row was drawn for labelling, from 1e-9 to 1, on each "
                "row with a label or on none."
            )
