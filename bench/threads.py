"""How often a digest's 95% intervals hold the truth where replies share threads: `python -m
bench.threads`.

Threads have 1 to 6 turns. What a person would give a turn is its thread's own label or, with a
probability that the correlation sets, one of its own; the judge is off by a point in two of nine.
The figures are a digest's in its details: of watched replies, a random half of the turns, the mean,
and the mean corrected by blind labels of a third of them.
"""

from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import NamedTuple

from bench.shapes import SCALE, SHAPES, Shape, mean, row
from bot.figures.quality import to_quality
from bot.store.figures import CountedCase
from judge.evaluation.stats import Interval

SAMPLES = 500
WEEKS = (20, 60, 300)
"""Scored replies in a week."""
DRAWN = 0.5
LABELLED = 1 / 3
ERRORS = (-1, 0, 0, 0, 0, 0, 0, 0, 1)


class Turn(NamedTuple):
    """The judge's score of a reply, what a person would give it, and its thread."""

    score: int
    label: int
    thread: int


def to_score(label: int, error: int) -> int:
    """What the judge gives."""
    return min(max(label + error, SCALE.low), SCALE.high)


def draw(shape: Shape, correlation: float, replies: int, random: Random) -> list[Turn]:
    """The turns of whole threads, until there are that many."""
    found: list[Turn] = []
    while len(found) < replies:
        thread = len(found)
        own = random.choices(range(6), shape)[0]
        for _ in range(random.randint(1, 6)):
            label = (
                own if random.random() < correlation**0.5 else random.choices(range(6), shape)[0]
            )
            found.append(Turn(to_score(label, random.choice(ERRORS)), label, thread))
    return found


def watched(turns: Sequence[Turn], random: Random) -> tuple[Interval | None, Interval | None]:
    """The mean of a random part of them, and the mean corrected by labels."""
    drawn = [turn for turn in turns if random.random() < DRAWN]
    rows = [
        CountedCase(0, turn.score, 0, 0, f"{turn.thread}", DRAWN, given=label)
        for turn in drawn
        for label in [f"U1 {turn.label}" if random.random() < LABELLED else None]
    ]
    found = to_quality(rows, SCALE)
    return (found.mean.judge, found.mean.corrected) if found else (None, None)


def main() -> None:
    """Prints the coverage for each shape, correlation and number of replies."""
    print("Held by 95% intervals; replies:", *WEEKS)
    for name, shape in SHAPES.items():
        of_judge = [
            (to_score(label, error), share / len(ERRORS))
            for label, share in enumerate(shape)
            for error in ERRORS
        ]
        truth = mean(shape)
        by_judge = sum(score * share for score, share in of_judge)
        truths = (by_judge, truth)
        for correlation in (0.3, 0.6):
            cells = []
            for replies in WEEKS:
                random = Random(f"{name} {correlation} {replies}")
                held = []
                for _ in range(SAMPLES):
                    turns = draw(shape, correlation, replies, random)
                    intervals = watched(turns, random)
                    held.append(
                        [holds(each, value) for each, value in zip(intervals, truths, strict=True)]
                    )
                cells.append(" ".join(f"{fmean(each):.0%}" for each in zip(*held, strict=True)))
            row(f"{name}, correlation {correlation}", *cells)


def holds(interval: Interval | None, value: float) -> bool:
    """Whether the interval contains the value; one that is not shown claims nothing."""
    if interval is None or interval.low is None or interval.high is None:
        return True
    return interval.low <= value <= interval.high


if __name__ == "__main__":
    main()
