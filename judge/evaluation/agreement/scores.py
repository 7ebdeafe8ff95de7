"""Scored responses and the labels that people gave them, read from JSONL."""

from collections import defaultdict
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
# What identifies a response: its texts or case, and its group.
_Id = tuple[object, str | None]


@dataclass(frozen=True)
class Scores:
    responses: tuple[Response, ...]  # with labels or without
    judges: tuple[str, ...]
    scale: Scale  # of the scores, and of the labels after mapping
    problems: tuple[str, ...]  # a sentence for each value that could not be used
    repeats: int  # scores and labels in conflict with an earlier line, which counts
    same: int = 0  # rows that count once with an earlier one of the same judge and response
    own_labels: int = 0  # rows with a label, which does not count beside a file of labels

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
    more: Path | None = None  # a file with other scores of the same responses


def read_scores(path: Path, columns: Columns, rubric: Rubric | str | Path | None = None) -> Scores:
    """The scores and labels in a JSONL file.

    A response is identified by its `case`, or without one by its prompt (`prompt_id`, `prompt` or
    `question`) and its text (`completion` or `response`); without these, each line is a response of
    its own. A judge is identified by `model`, `rubric`, `rubric_version` and the score's field, as
    far as these differ in the file. `rubric` sets the scale; it is needed if the rows name a rubric
    that does not come with the package.
    """
    file = RowFile(path)
    rows = _scored_rows(file, columns)
    beside = RowFile(columns.labels) if columns.labels else file
    label_rows = list(beside.rows()) if columns.labels else []
    beside.require(label=columns.label)
    scale = _common_scale([*rows, *label_rows], rubric)
    items = _Items(columns, scale)
    items.take_rows(rows, file.problems)
    items.take_labels(label_rows, beside.problems, path)
    _check_probabilities(items.drawn)
    names = _names(dict.fromkeys(judge for item in items.all for judge in item.scores))
    problems = [*file.problems]
    if beside is not file:
        problems += (f"{columns.labels}, {each}" for each in beside.problems)
    return Scores(
        responses=tuple(item.to_response(names) for item in items.all),
        judges=tuple(names.values()),
        scale=scale,
        problems=tuple(problems),
        repeats=items.repeats,
        same=items.same,
        own_labels=items.own_labels,
    )


def _scored_rows(file: RowFile, columns: Columns) -> list[Row]:
    """The rows of the file, and of the one with other scores; they must have the columns."""
    rows = list(file.rows())
    if columns.more:
        rows += RowFile(columns.more).rows()
    for name in columns.scores:
        file.require(score=name)
    by_time = columns.group == _WEEK and _TIME in file.names
    file.require(by=None if by_time else columns.group)
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


class _Items:
    """The responses that rows are of: those with the same texts are one, within a group."""

    def __init__(self, columns: Columns, scale: Scale) -> None:
        self._columns = columns
        self._scale = scale
        self._items = dict[_Id, _Item]()
        self._ids = defaultdict[object, dict[_Id, None]](dict)  # by what their rows are known by
        self.repeats = 0  # scores and labels in conflict with an earlier row
        self.same = 0  # rows of a judge's earlier response
        self.drawn: list[Row] = []  # with a blind label
        self.own_labels = 0  # that do not count beside a file of labels

    @property
    def all(self) -> Collection[_Item]:
        return self._items.values()

    def take_rows(self, rows: Sequence[Row], problems: list[str]) -> None:
        """Takes rows with scores, and with labels unless these have a file of their own."""
        columns = self._columns
        label = "" if columns.labels else columns.label
        reader = LabelledRows(problems, label, columns.label_range, columns.scores)
        for row in rows:
            self._take_row(reader.read(row, self._scale))
            if columns.labels and row.get(columns.label) is not None:
                self.own_labels += 1
        reader.check(takes_other_judge=columns.takes_other_judge)

    def take_labels(self, rows: Sequence[Row], problems: list[str], scored: Path) -> None:
        """Gives each label to the response in each group; `scored` is the file with the scores."""
        columns = self._columns
        reader = LabelledRows(problems, columns.label, columns.label_range, ())
        for row in rows:
            read = reader.read(row, self._scale)
            keys = self._ids.get(row.known_by[1], {})
            for key in keys:
                self._label(key, read)
            if not keys:
                problems.append(f"line {row.line}: the label is of no response in {scored}")
        reader.check()

    def _take_row(self, read: LabelledRow) -> None:
        row = read.row
        group = _group_of(row, self._columns.group) if self._columns.group else None
        known_by = row.known_by[1]
        key = (known_by, group)
        self._ids[known_by][key] = None
        item = self._items.setdefault(key, _Item(row, group))
        source = tuple(str(part or "") for part in (row.judge, *row.rubric))
        judges = len(item.scores)
        for column, score in read.scores.items():
            judge = (*source, column)
            first = item.scores.get(judge)
            item.scores[judge] = score if first is None else first
            if score is not None and score != item.scores[judge]:
                self.repeats += 1
        if len(item.scores) == judges:
            self.same += 1
        self._label(key, read)

    def _label(self, key: _Id, read: LabelledRow) -> None:
        if not read.labels:
            return
        # In the order of their labels, which shows whether a person has become stricter.
        item = self._items.pop(key)
        self._items[key] = item
        earlier = item.labels.setdefault(read.person, read)
        if earlier.given != read.given:
            self.repeats += 1
        if read.is_blind:
            self.drawn.append(read.row)


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
