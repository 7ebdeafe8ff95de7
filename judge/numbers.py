"""The numbers in rows of JSONL: scores and people's labels, held to their scale."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isnan
from pathlib import Path

from judge.errors import SetupError
from judge.files import shown
from judge.rows import Row
from judge.rubric import DEFAULT_RUBRIC, Rubric, Scale, list_rubrics, load_rubric

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
_LARGEST = 1e9
# Slips of the pen; beyond, the values are of another scale, and those that happen to be on ours mislead.
_FEW, _SHARE_OFF_SCALE = 2, 0.05

Range = tuple[float, float]


class Numbers:
    """Reads scores, ratings and labels, and remembers which values could not be used.

    Attributes:
        problems: One sentence for each such value, with its line number.
    """

    def __init__(self, scale: Scale, label_range: Range | None, problems: list[str]) -> None:
        self._scale = scale
        self._ranges: dict[str, Range] = {"score": scale, "rating": scale, "label": label_range or scale}
        self._seen = {what: _Seen() for what in self._ranges}
        self.problems = problems

    def score(self, line: int, value: object) -> float | None:
        """The score, on the scale; None where there is none, or none that can be used."""
        return self._read(line, "score", value)

    def rating(self, line: int, value: object) -> int | None:
        """The score that one model call gave, which is whole; None as for a score."""
        number = self._read(line, "rating", value)
        if number is not None and not number.is_integer():
            self.problems.append(f"line {line}: rating {shown(value)} is not a whole number")
            return None
        return None if number is None else int(number)

    def labels(self, line: int, value: object) -> Iterator[float]:
        """The label, or each of a list of them, mapped from its own range to the scale."""
        low, high = self._ranges["label"]
        for each in value if isinstance(value, list) else [value]:
            label = self._read(line, "label", each)
            if label is not None:
                mapped = self._scale.low + (label - low) / (high - low) * (self._scale.high - self._scale.low)
                yield round(mapped, 9)  # without the dust of binary fractions, equal labels stay equal

    def check(self) -> None:
        """What is left when many values are off the scale is no fair part of the file."""
        by_rubric = "name the rubric that they were given by with --rubric"
        hints = {"score": by_rubric, "rating": by_rubric, "label": "say --scale {}-{}"}
        for what, seen in self._seen.items():
            if seen.is_of_another_scale:
                low, high = self._ranges[what]
                raise SetupError(
                    f"{seen.off_scale:,} of {seen.count:,} {what}s are off the scale {low:g} to {high:g}: they go from "
                    f"{seen.low:g} to {seen.high:g}; {hints[what].format(f'{seen.low:g}', f'{seen.high:g}')}"
                    f"{', with the lowest and highest that there can be' if what == 'label' else ''}."
                )

    def _read(self, line: int, what: str, value: object) -> float | None:
        if value is None:
            return None
        number = _to_real(value)
        if number is None:
            self.problems.append(f"line {line}: {what} {shown(value)} is not a number")
            return None
        low, high = self._ranges[what]
        is_off_scale = not low <= number <= high
        self._seen[what].add(max(-_LARGEST, min(number, _LARGEST)), is_off_scale=is_off_scale)
        if is_off_scale:
            self.problems.append(f"line {line}: {what} {shown(value)} is off the scale {low:g} to {high:g}")
            return None
        return float(number)


def to_number(value: object) -> float | None:
    """A number, or a cell of CSV that reads as one; None for anything else, and beyond a billion."""
    number = _to_real(value)
    # A comparison takes any integer, which float() does not.
    return None if number is None or abs(number) >= _LARGEST else float(number)


def _to_real(value: object) -> float | None:
    """The same, however large; NaN is none."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and isnan(value)):
        return None
    return value


def to_probability(value: object) -> float | None:
    """A probability of at least one in a billion; None for anything else. The weight of less would drown the others."""
    number = to_number(value)
    return number if number is not None and 1 / _LARGEST <= number <= 1 else None


def to_range(text: str) -> Range:
    """Lowest and highest label of a range such as "0-1" or "1-10"."""
    match = _RANGE.fullmatch(text.strip())
    if match is None or float(match[1]) >= float(match[2]):
        raise SetupError(f"--scale {text}: give the labels' lowest and highest value, such as 0-1 or 1-10.")
    return float(match[1]), float(match[2])


def find_scale(row: Row, rubric: str | Path | None) -> Scale:
    """The scale of `rubric`, else of the rubric that the row names, else of the default rubric."""
    name, version = row.rubric
    if rubric is not None or not name:
        return load_rubric(rubric or DEFAULT_RUBRIC).scale
    return load_named(name, version).scale


def load_named(name: str, version: str | None) -> Rubric:
    """The rubric that a row names, which gives the scale of its score."""
    rubric = load_rubric(name) if name in list_rubrics() else None
    if rubric is None or version not in (None, rubric.version):
        raise SetupError(
            f"The scores were given by rubric {name!r} ({version}), which does not come with this package; "
            "name its file with --rubric, so that the scale is known."
        )
    return rubric


@dataclass(slots=True)
class _Seen:
    count: int = 0
    off_scale: int = 0
    low: float = inf
    high: float = -inf

    def add(self, value: float, *, is_off_scale: bool) -> None:
        self.count += 1
        self.off_scale += is_off_scale
        self.low, self.high = min(self.low, value), max(self.high, value)

    @property
    def is_of_another_scale(self) -> bool:
        return self.off_scale > max(_FEW, _SHARE_OFF_SCALE * self.count)
