"""Rows with scores and people's labels: one reader for all that compares the two."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.evaluation.severity import Given
from judge.rows.files import shown
from judge.rows.journal import answered_as
from judge.rows.row_file import Row
from judge.scoring.rubric import DEFAULT_RUBRIC, Rubric, Scale, list_rubrics, load_rubric

_LEAST = 1e-9  # of a probability

Range = tuple[float, float]


class LabelledRow(NamedTuple):
    """A row, its scores by field, and the labels that a person (or, in a list, several people)
    gave.

    Both are on the scale. A score is None if there is none that can be used. Each label is with who
    gave it: `label_by` has a name, or one for each label of a list.
    """

    row: Row
    scores: Mapping[str, float | None]
    given: Given

    @property
    def labels(self) -> tuple[float, ...]:
        return tuple(label for _, label in self.given)

    @property
    def score(self) -> float | None:
        return next(iter(self.scores.values()))

    @property
    def is_blind(self) -> bool:
        """Whether the labels may have been given before the score was seen: the row does not say
        otherwise.
        """
        return self.row.get("blind") is not False

    @property
    def person(self) -> object:
        """Who gave the labels.

        Without a name, an equal label may come from the same person, so it counts once.
        """
        return self.row.key("label_by") or self.labels


@dataclass
class LabelledRows:
    """Reads scores and labels of rows; `problems` has a sentence for each value that could not be
    used.
    """

    problems: list[str]
    label: str
    label_range: Range | None = None
    scores: Sequence[str] = ("score",)
    _served: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)
    _seen: dict[tuple[str, Range], Counter[float]] = field(default_factory=dict, init=False)

    def read(self, row: Row, scale: Scale) -> LabelledRow:
        """The scores and the labels of a row, the latter mapped from their range to the scale."""
        scores = {name: self._read(row, "score", row.get(name), scale) for name in self.scores}
        low, high = range_ = self.label_range or scale
        self._served.update(row.served)
        given = _as_list(row.get(self.label))
        names = _as_list(row.get("label_by"))
        if len(names) != len(given):
            names = [None] * len(given)
        points = (scale.high - scale.low) / (high - low)
        labels = list[tuple[str, float]]()
        for name, value in zip(names, given, strict=True):
            label = self._read(row, "label", value, range_)
            if label is not None:
                # Without rounding errors, so that equal labels stay equal.
                points_given = round(scale.low + (label - low) * points, 9)
                labels.append(("" if name is None else str(name), points_given))
        return LabelledRow(row, scores, labels)

    def check(self, *, takes_other_judge: bool = True) -> None:
        """Raises SetupError if many values are off the scale, because the others do not represent
        the file.

        It does so, too, if a model answered under several names, unless these are taken for one
        judge.
        """
        if not takes_other_judge and (names := [*answered_as(self._served)]):
            raise SetupError(
                f"Model {', '.join(names)}, which may be several judges; keep the rows of one of "
                "them, or take them for one judge with --other-judge."
            )
        for (what, (low, high)), seen in self._seen.items():
            off_scale = sum(number for each, number in seen.items() if not low <= each <= high)
            # A few are typing errors. With more, the file uses another scale, and its values that
            # happen to be on ours would mislead.
            if off_scale > max(2, 0.05 * seen.total()):
                ends = f"{min(seen):g}", f"{max(seen):g}"
                hint = "name the rubric that they were given by with --rubric"
                if what == "label":
                    hint = (
                        f"say --scale {'-'.join(ends)}, with the lowest and highest that there "
                        "can be"
                    )
                raise SetupError(
                    f"{off_scale:,} of {seen.total():,} {what}s are off the scale {low:g} to "
                    f"{high:g}: they go from {' to '.join(ends)}; {hint}."
                )

    def _read(self, row: Row, what: str, value: object, range_: Range) -> float | None:
        if value is None:
            return None
        number = to_number(value)
        low, high = range_
        where = f"line {row.line}"
        if number is None:
            self.problems.append(f"{where}: {what} {shown(value)} is not a number")
            return None
        self._seen.setdefault((what, range_), Counter())[number] += 1
        if not low <= number <= high:
            self.problems.append(
                f"{where}: {what} {shown(value)} is off the scale {low:g} to {high:g}"
            )
            return None
        return number


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def to_number(value: object) -> float | None:
    """A number, or a CSV cell that contains one; None for anything else, and for NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return None if isnan(number) else number


def to_probability(value: object) -> float | None:
    """A probability of at least one in a billion; None for anything else, which would outweigh all
    others.
    """
    number = to_number(value)
    return number if number is not None and _LEAST <= number <= 1 else None


def find_scale(row: Row, rubric: Rubric | str | Path | None) -> Scale:
    """The scale of `rubric`; without it, that of the rubric that the row names, or of the default
    rubric.
    """
    if isinstance(rubric, Rubric):
        return rubric.scale
    name, version = row.rubric
    if rubric is not None or not name:
        return load_rubric(rubric or DEFAULT_RUBRIC).scale
    known = load_rubric(name) if name in list_rubrics() else None
    if known is None or version not in (None, known.version):
        raise SetupError(
            f"The scores were given by rubric {name!r} ({version}), which does not come with this "
            "package; name its file with --rubric, so that the scale is known."
        )
    return known.scale
