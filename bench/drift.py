"""How often drift is found without a drop, and how soon after one; prints the tables of
docs/measurements.md.

    python -m bench.drift             all parts, one after the other (half an hour of processor time)
    python -m bench.drift delays      one part: false-alarms, delays, slow, shifts, floor

Scores are drawn with fixed seeds. `recent` is the present day and the six before it, or the scores
since the last alarm; the reference is the 28 days before those seven, and moves on each midnight.
The evidence is checked after each score. At each alarm, `find_drop` itself must find a drop, and
must not find one a score earlier.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import accumulate, cycle, islice
from math import exp, inf
from random import Random
from statistics import fmean

from judge.evaluation import drift
from judge.evaluation.drift import DatedScore
from judge.scoring.rubric import Scale

SCALE = Scale(0, 5)
MIXED = (3, 1, 6, 2, 5, 4)
Shape = tuple[float, ...]
PILED: Shape = (0.01, 0.01, 0.03, 0.10, 0.45, 0.40)
SPREAD: Shape = (0.08, 0.12, 0.20, 0.25, 0.20, 0.15)
TWO_PEAKS: Shape = (0.30, 0.05, 0.05, 0.05, 0.10, 0.45)
SHAPES: Mapping[str, Shape] = {
    "piled up on 4 and 5": PILED,
    "spread": SPREAD,
    "two peaks, 0 and 5": TWO_PEAKS,
    "zeros and fives": (0.30, 0, 0, 0, 0, 0.70),
    "5, rarely 0": (0.05, 0, 0, 0, 0, 0.95),
}
RATES = (10, 40, 200)
RUNS = {10: 100, 40: 40, 200: 10}
DELAYS = {10: 200, 40: 200, 200: 40}
WINDOW = 7
REFERENCE = 28
QUARTER = 90
AFTER = 21
WARM = WINDOW - 1 + REFERENCE
FIRST = date(2026, 6, 1)  # a Monday


@dataclass(frozen=True)
class World:
    """The distribution of an assistant's scores.

    Attributes:
        weekend: How many points lower weekends are.
        days_vary: The standard deviation of a day's level, in points.
        resembles: The correlation of a day's level with the day before.
        thread: The replies in a thread, or in each in turn; they repeat its own score with
            probability `alike`.
        alike: Its square is the correlation within a thread.
    """

    shape: Shape
    weekend: float = 0.0
    days_vary: float = 0.0
    resembles: float = 0.0
    thread: int | tuple[int, ...] = 1
    alike: float = 0.0

    def draw(self, rate: int, drops: Sequence[float], random: Random) -> list[DatedScore]:
        """The scores of as many days as there are `drops`, which say how many points lower each day
        is.
        """
        found: list[DatedScore] = []
        sizes = cycle((self.thread,) if isinstance(self.thread, int) else self.thread)
        threads = list(
            islice((thread for thread, size in enumerate(sizes) for _ in range(size)), rate)
        )
        own_level = random.gauss(0, self.days_vary) if self.resembles else 0.0
        for number, drop in enumerate(drops):
            day = FIRST + timedelta(days=number)
            new = random.gauss(0, self.days_vary * (1 - self.resembles**2) ** 0.5)
            own_level = self.resembles * own_level + new
            level = drop + self.weekend * (day.weekday() > 4) + own_level
            cumulative = list(accumulate(lower(self.shape, round(level, 2))))
            own: dict[int, int] = {}
            for thread in threads:
                score = random.choices(range(6), cum_weights=cumulative)[0]
                if self.alike and random.random() < self.alike:
                    score = own.setdefault(thread, score)
                found.append(DatedScore(score, day, (number, thread) if self.thread != 1 else None))
        return found


_TILTED: dict[tuple[Shape, float], Shape] = {}


def mean(shape: Shape) -> float:
    return sum(score * share for score, share in enumerate(shape))


def lower(shape: Shape, points: float) -> Shape:
    """The shape with a mean that many points lower: each share times exp(t * score), the smallest
    possible change.
    """
    if not points:
        return shape
    if (shape, points) not in _TILTED:
        low = -30.0
        high = 30.0
        wanted = min(max(mean(shape) - points, 0.02), 4.98)
        for _ in range(60):
            middle = (low + high) / 2
            weights = [share * exp(middle * score) for score, share in enumerate(shape)]
            tilted = tuple(weight / sum(weights) for weight in weights)
            low, high = (low, middle) if mean(tilted) > wanted else (middle, high)
        _TILTED[shape, points] = tilted
    return _TILTED[shape, points]


def find_alarms(
    scores: Sequence[DatedScore], rate: int, first_day: int, floor: float | None = None
) -> Iterator[int]:
    """The numbers of replies after which there are alarms."""
    last = 0
    for day in range(first_day, len(scores) // rate):
        begin = (day - WINDOW + 1) * rate
        night = (day + 1) * rate
        reference = scores[max(begin - REFERENCE * rate, 0) : begin]
        if len(reference) < drift.MIN_REFERENCE:
            continue
        tests, threshold = to_tests(floor, reference)
        start = max(begin, last)
        earliest = max(day * rate, last)
        while (
            found := first_alarm(scores[start:night], earliest - start, tests, threshold)
        ) is not None:
            recent = scores[start : start + found]
            assert ask(floor, reference, recent)
            assert start + found == earliest + 1 or ask(floor, reference, recent[:-1]) is None
            last = start = earliest = start + found
            yield last


def to_tests(
    floor: float | None, reference: Sequence[DatedScore]
) -> tuple[list[drift._Test], float]:
    if floor is None:
        return list(drift._tests_of_drop(reference, SCALE)), drift._threshold(
            drift._SHARE, reference
        )
    tests = list(drift._tests_of_floor(floor, reference, SCALE))
    return tests, drift._threshold(drift._SHARE_OF_FLOOR, reference)


def ask(
    floor: float | None, reference: Sequence[DatedScore], recent: Sequence[DatedScore]
) -> drift.Drop | None:
    if floor is None:
        return drift.find_drop(reference, recent, SCALE)
    return drift.find_below(floor, reference, recent, SCALE)


def first_alarm(
    recent: Sequence[DatedScore], earliest: int, tests: Sequence[drift._Test], threshold: float
) -> int | None:
    """The smallest number of replies above `earliest` at which the evidence reaches the threshold,
    or None.
    """
    after = enumerate(drift._evidence(recent, tests), 1)
    return next((i for i, evidence in after if i > earliest and fmean(evidence) >= threshold), None)


def count_alarms(
    world: World, rate: int, first_day: int = WARM, floor: float | None = None
) -> float:
    """The mean number of alarms in 90 days from the first day on."""
    drops = [0.0] * (first_day + QUARTER)
    runs = [world.draw(rate, drops, Random(f"{rate} {i}")) for i in range(RUNS[rate])]
    return fmean(len(list(find_alarms(run, rate, first_day, floor))) for run in runs)


def find_delays(
    world: World, drops: Sequence[float], rate: int, floor: float | None = None
) -> list[float]:
    """Days from the first drop, on a Monday, to the alarm, sorted; infinite if there is no alarm in
    all the days.
    """
    first = WARM + 1
    delays = []
    for i in range(DELAYS[rate]):
        scores = world.draw(rate, [0.0] * first + list(drops), Random(f"{rate} {i}"))
        delays.append(next(find_alarms(scores, rate, first, floor), inf) / rate - first)
    return sorted(delays)


def row(*cells: object) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


WORLDS: Mapping[str, World] = {
    **{name: World(shape) for name, shape in SHAPES.items()},
    **{
        f"threads of {size}, correlation {alike**2:.2f}, {name}": World(
            SHAPES[name], thread=size, alike=alike
        )
        for size, alike in ((3, 0.5), (3, 0.7), (5, 0.7), (MIXED, 0.3**0.5), (MIXED, 0.6**0.5))
        for name in ("piled up on 4 and 5", "two peaks, 0 and 5")
    },
    **{
        f"weekends {points} lower, {name}": World(SHAPES[name], weekend=points)
        for points in (0.3, 0.5)
        for name in list(SHAPES)[:3]
    },
    **{
        f"days vary by 0.15, {name}": World(SHAPES[name], days_vary=0.15)
        for name in list(SHAPES)[:3]
    },
    **{
        f"the same, correlation 0.7 with the day before, {name}": World(
            SHAPES[name], days_vary=0.15, resembles=0.7
        )
        for name in list(SHAPES)[:2]
    },
    "all of it, piled up": World(PILED, weekend=0.2, days_vary=0.1, thread=3, alike=0.5),
}


def false_alarms() -> None:
    print("\nFalse alarms in 90 days; replies a day:", *RATES)
    for name, world in WORLDS.items():
        row(name, *(f"{count_alarms(world, rate):.2f}" for rate in RATES))
    for name in list(SHAPES)[:3]:
        row(
            f"a new watch, {name}",
            *(f"{count_alarms(World(SHAPES[name]), rate, WINDOW):.2f}" for rate in RATES),
        )


def delays() -> None:
    print(
        (
            "\nDays to the alarm: median, 95th percentile; share within two days, within "
            "seven; replies a day:"
        ),
        *RATES,
    )
    for name, world in WORLDS.items():
        for points in (1, 0.5, 0.3) if name in SHAPES else (1,):
            found = (find_delays(world, [points] * AFTER, rate) for rate in RATES)
            row(name, f"{points} points", *map(describe, found))


def describe(delays: Sequence[float]) -> str:
    middle = delays[len(delays) // 2]
    late = delays[int(0.95 * len(delays))]
    soon, week = (fmean(delay <= days for delay in delays) for days in (2, 7))
    return f"{middle:.1f}, {late:.1f}; {soon:.0%}, {week:.0%}"


def slow() -> None:
    print(
        (
            "\nOne point lower, evenly over 28 days: heard within 42 days, on which (median); "
            "replies a day:"
        ),
        *RATES,
    )
    for name in ("piled up on 4 and 5", "spread"):
        drops = [min(day / REFERENCE, 1) for day in range(1, REFERENCE + 15)]
        found = [find_delays(World(SHAPES[name]), drops, rate) for rate in RATES]
        row(
            name,
            *(
                f"{fmean(day < inf for day in days):.0%}, {days[len(days) // 2]:.0f}"
                for days in found
            ),
        )


def shifts() -> None:
    print("\nOne point lower, 14 days after one half of a point higher; replies a day:", *RATES)
    for name in ("piled up on 4 and 5", "two peaks, 0 and 5"):
        cells = []
        for rate in RATES:
            found = []
            for i in range(DELAYS[rate]):
                levels = [0.5] * (WARM + 1 - 14) + [0.0] * 14 + [1.0] * WINDOW
                scores = World(SHAPES[name]).draw(rate, levels, Random(f"{rate} {i}"))
                found.append(next(find_alarms(scores, rate, WARM + 1), inf) / rate - WARM - 1)
            cells.append(describe(sorted(found)))
        row(name, *cells)


def floor() -> None:
    print(
        "\nFloor: alarms in 90 days where it is the mean; days to the alarm with a mean "
        "0.5 below it, 1 below it"
    )
    for name in list(SHAPES)[:3]:
        world = World(SHAPES[name])
        for rate in RATES:
            false = count_alarms(world, rate, floor=mean(world.shape))
            fallen = [find_delays(world, [by] * AFTER, rate, mean(world.shape)) for by in (0.5, 1)]
            row(name, rate, f"{false:.2f}", *map(describe, fallen))
    with_threads = replace(World(PILED), thread=3, alike=0.7)
    row(
        "threads of 3, correlation 0.49",
        40,
        f"{count_alarms(with_threads, 40, floor=mean(PILED)):.2f}",
    )


PARTS = {
    "false-alarms": false_alarms,
    "delays": delays,
    "slow": slow,
    "shifts": shifts,
    "floor": floor,
}


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
