"""Reads the numbers in rows of JSONL, scores and people's labels, and checks them against their scale."""

import re
from collections.abc import Iterator
from math import isnan
from pathlib import Path

from judge.errors import SetupError
from judge.rows.files import shown
from judge.rows.row_file import Row
from judge.scoring.rubric import DEFAULT_RUBRIC, Rubric, Scale, list_rubrics, load_rubric

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
_LARGEST = 1e9
# Up to these limits, values off the scale count as typing errors. Beyond them the file uses another scale, and its
# values that happen to be on ours would mislead.
_FEW, _SHARE_OFF_SCALE = 2, 0.05

Range = tuple[float, float]


class Numbers:
    """Reads scores and labels, and remembers which values could not be used.

    Attributes:
        problems: One sentence for each such value, with its line number.
    """

    def __init__(self, scale: Scale, label_range: Range | None, problems: list[str]) -> None:
        self._scale = scale
        self._ranges: dict[str, Range] = {"score": scale, "label": label_range or scale}
        self._seen: dict[str, list[float]] = {what: [] for what in self._ranges}
        self.problems = problems

    def score(self, line: int, value: object) -> float | None:
        """The score, on the scale; None if there is none, or it cannot be used."""
        return self._read(line, "score", value)

    def labels(self, line: int, value: object) -> Iterator[float]:
        """The label, or each label of a list, mapped from the labels' range to the scale."""
        low, high = self._ranges["label"]
        for each in value if isinstance(value, list) else [value]:
            label = self._read(line, "label", each)
            if label is not None:
                mapped = self._scale.low + (label - low) / (high - low) * (self._scale.high - self._scale.low)
                yield round(mapped, 9)  # without rounding errors, so that equal labels stay equal

    def check(self) -> None:
        """Raises SetupError if many values are off the scale, because the others do not represent the file."""
        for what, seen in self._seen.items():
            low, high = self._ranges[what]
            off_scale = sum(not low <= each <= high for each in seen)
            if off_scale > max(_FEW, _SHARE_OFF_SCALE * len(seen)):
                ends = f"{min(seen):g}", f"{max(seen):g}"
                hint = "name the rubric that they were given by with --rubric"
                if what == "label":
                    hint = f"say --scale {'-'.join(ends)}, with the lowest and highest that there can be"
                raise SetupError(
                    f"{off_scale:,} of {len(seen):,} {what}s are off the scale {low:g} to {high:g}: they go from "
                    f"{' to '.join(ends)}; {hint}."
                )

    def _read(self, line: int, what: str, value: object) -> float | None:
        if value is None:
            return None
        number = _to_real(value)
        if number is None:
            self.problems.append(f"line {line}: {what} {shown(value)} is not a number")
            return None
        low, high = self._ranges[what]
        self._seen[what].append(max(-_LARGEST, min(number, _LARGEST)))
        if not low <= number <= high:
            self.problems.append(f"line {line}: {what} {shown(value)} is off the scale {low:g} to {high:g}")
            return None
        return float(number)


def to_number(value: object) -> float | None:
    """A number, or a CSV cell that contains one; None for anything else, and from a billion on."""
    number = _to_real(value)
    # A comparison accepts any integer, but float() does not.
    return None if number is None or abs(number) >= _LARGEST else float(number)


def _to_real(value: object) -> float | None:
    """As `to_number`, but of any size; None for NaN."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and isnan(value)):
        return None
    return value


def to_probability(value: object) -> float | None:
    """A probability of at least one in a billion; None for anything else, which would outweigh all others."""
    number = to_number(value)
    return number if number is not None and 1 / _LARGEST <= number <= 1 else None


def to_range(text: str) -> Range:
    """Lowest and highest label of a range such as "0-1" or "1-10"."""
    match = _RANGE.fullmatch(text.strip())
    if match is None or float(match[1]) >= float(match[2]):
        raise SetupError(f"--scale {text}: give the labels' lowest and highest value, such as 0-1 or 1-10.")
    return float(match[1]), float(match[2])


def find_scale(row: Row, rubric: str | Path | None) -> Scale:
    """The scale of `rubric`; without it, that of the rubric that the row names, or of the default rubric."""
    name, version = row.rubric
    if rubric is not None or not name:
        return load_rubric(rubric or DEFAULT_RUBRIC).scale
    return load_named(name, version).scale


def load_named(name: str, version: str | None) -> Rubric:
    """The rubric that a row names; its scale is that of the row's score."""
    rubric = load_rubric(name) if name in list_rubrics() else None
    if rubric is None or version not in (None, rubric.version):
        raise SetupError(
            f"The scores were given by rubric {name!r} ({version}), which does not come with this package; "
            "name its file with --rubric, so that the scale is known."
        )
    return rubric
