"""Scored responses and the labels that people gave them, read from JSONL."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from judge.errors import SetupError
from judge.evaluation.labelled import LabelledRow, LabelledRows, Range, find_scale
from judge.rows.row_file import RowFile
from judge.scoring.rubric import Scale

# What identifies a judge: model, rubric, rubric version, the field of the score.
_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Response:
    """One response: the score of each judge, and the labels of people, on the rubric's scale."""

    prompt: str  # shared by the responses to one prompt
    scores: Mapping[str, float | None]  # by the judge's name; None if the judge left it unscored
    labels: tuple[float, ...]  # one for each person
    group: str | None = None  # a value shared with other responses, such as its language


@dataclass(frozen=True)
class Scores:
    responses: tuple[Response, ...]  # with labels or without
    judges: tuple[str, ...]
    scale: Scale  # of the scores, and of the labels after mapping
    problems: tuple[str, ...]  # a sentence for each value that could not be used
    repeats: int  # scores and labels in conflict with an earlier line, which counts


@dataclass(frozen=True)
class Columns:
    """The fields to read: label, scores and group; the range of the labels if it is not the
    rubric's.

    `takes_other_judge` is as in `judge.evaluation.estimate.Fields`.
    """

    label: str
    scores: tuple[str, ...] = ("score",)
    label_range: Range | None = None
    group: str | None = None
    takes_other_judge: bool = False


def read_scores(path: Path, columns: Columns, rubric: str | Path | None = None) -> Scores:
    """The scores and labels in a JSONL file.

    A response is identified by its `case`, or without one by its prompt (`prompt_id`, `prompt` or
    `question`) and its text (`completion` or `response`); without these, each line is a response of
    its own. Equal texts on different `line`s of one judge are different responses, unless
    `label_by` names different people. A judge is identified by `model`, `rubric`, `rubric_version`
    and the score's field, as far as these differ in the file. `rubric` sets the scale; it is needed
    if the rows name a rubric that does not come with the package.
    """
    file = RowFile(path)
    rows = list(file.rows())
    file.require(label=columns.label, by=columns.group)
    for name in columns.scores:
        file.require(score=name)
    named = {row.rubric: row for row in rows if row.rubric[0]} or {(None, None): rows[0]}
    scale, *others = dict.fromkeys(find_scale(row, rubric) for row in named.values())
    if others:
        all_scales = ", ".join(f"{low} to {high}" for low, high in (scale, *others))
        raise SetupError(
            f"The file holds scores on different scales ({all_scales}); compare one scale "
            "at a time."
        )
    labelled = LabelledRows(file.problems, columns.label, columns.label_range, columns.scores)
    items, repeats = _merge((labelled.read(row, scale) for row in rows), columns.group)
    labelled.check(takes_other_judge=columns.takes_other_judge)
    judges = dict.fromkeys(judge for item in items for judge in item.scores)
    telling = [part for part in range(4) if len({judge[part] for judge in judges}) > 1]
    names = {
        judge: " ".join(judge[part] for part in telling or [0] if judge[part])
        or ("unnamed" if telling else judge[3])
        for judge in judges
    }
    responses = tuple(
        Response(
            prompt=item.prompt,
            scores={names[judge]: score for judge, score in item.scores.items()},
            labels=tuple(
                chain.from_iterable(
                    next((each.values() for each in item.labels.values() if each), ())
                )
            ),
            group=item.group,
        )
        for item in items
    )
    return Scores(responses, tuple(names.values()), scale, tuple(file.problems), repeats)


@dataclass(slots=True)
class _Item:
    """What the rows say about one response.

    Labels are kept by judge, because rows of several judges repeat them.
    """

    prompt: str
    group: str | None
    scores: dict[_Key, float | None] = field(default_factory=dict)
    labels: dict[_Key, dict[object, tuple[float, ...]]] = field(default_factory=dict)


def _merge(rows: Iterable[LabelledRow], group: str | None) -> tuple[Collection[_Item], int]:
    """The responses that the rows are of, and the number of scores and labels in conflict with an
    earlier row.
    """
    items: dict[object, _Item] = {}
    repeats = 0
    lines = defaultdict[object, dict[int, int]](dict)
    for read in rows:
        row = read.row
        prompt, known_by = row.known_by
        source = tuple(str(part or "") for part in (row.judge, *row.rubric))
        line = row.get("line")
        if isinstance(known_by, tuple) and isinstance(line, int):
            # Equal texts on different lines of one run are numbered in order of appearance, because
            # another judge's run may have other line numbers for the same rows.
            known = lines[known_by, source, str(row.get("label_by"))]
            known_by = (*known_by, known.setdefault(line, len(known)))
        item = items.setdefault(known_by, _Item(prompt, row.key(group) if group else None))
        for column, score in read.scores.items():
            first = item.scores.get(judge := (*source, column))
            item.scores[judge] = score if first is None else first
            repeats += score not in (None, item.scores[judge])
        labels = item.labels.setdefault(source, {})
        if read.labels:
            repeats += labels.setdefault(read.person, read.labels) != read.labels
    return items.values(), repeats
