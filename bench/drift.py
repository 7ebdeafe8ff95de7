"""How often `judge.drift` alarms without a drop, and how soon after one: prints the tables of docs/measurements.md.

    python -m bench.drift             all parts, one after the other (3 minutes)
    python -m bench.drift slow        one part: false-alarms, new-watches, threads, weekends, delays, repeats, floor

Scores are drawn by fixed seeds. `recent` is the present day and the six before it, or what came since the last alarm;
the reference is the 28 days before those seven, and slides on each midnight. The evidence is looked at after each
score; at each alarm `find_drop` itself is asked, and must say the same, and not yet one score before.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from math import exp, inf
from random import Random
from statistics import fmean

from judge import drift
from judge.rubric import Scale

SCALE = Scale(0, 5)
SHAPES = {
    "piled up on 4 and 5": (0.01, 0.01, 0.03, 0.10, 0.45, 0.40),
    "spread": (0.08, 0.12, 0.20, 0.25, 0.20, 0.15),
    "two peaks, 0 and 5": (0.30, 0.05, 0.05, 0.05, 0.10, 0.45),
    "5, seldom 0": (0.05, 0, 0, 0, 0, 0.95),
}
PILED, SPREAD, TWO_PEAKS, SELDOM = SHAPES
RATES = (5, 10, 40, 200)
RUNS = {5: 100, 10: 100, 40: 60, 200: 20}
DELAYS = {5: 200, 10: 200, 40: 200, 200: 50}
WINDOW, REFERENCE, QUARTER, AFTER = 7, 28, 90, 21
WARM = WINDOW - 1 + REFERENCE

Shape = tuple[float, ...]


def mean(shape: Shape) -> float:
    return sum(score * share for score, share in enumerate(shape))


def lower(shape: Shape, points: float) -> Shape:
    """The shape with a mean lower by so much: each share times exp(-t * score), which moves least for it."""
    low, high, wished, tilted = 0.0, 30.0, mean(shape) - points, shape
    for _ in range(60):
        middle = (low + high) / 2
        weights = [share * exp(-middle * score) for score, share in enumerate(shape)]
        tilted = tuple(weight / sum(weights) for weight in weights)
        low, high = (middle, high) if mean(tilted) > wished else (low, middle)
    return tilted


def with_low_share(shape: Shape, share: float) -> Shape:
    low = sum(shape[:3])
    return (*(each * share / low for each in shape[:3]), *(each * (1 - share) / (1 - low) for each in shape[3:]))


def draw(days: Sequence[Shape], rate: int, random: Random, alike: float = 0.0) -> list[int]:
    """Scores of all days; in threads of three each reply repeats the thread's own score with probability `alike`."""
    scores: list[int] = []
    for shape in days:
        cumulative = list(accumulate(shape))
        fresh = random.choices(range(6), cum_weights=cumulative, k=rate)
        if alike:
            threads = random.choices(range(6), cum_weights=cumulative, k=rate // 3 + 1)
            fresh = [threads[i // 3] if random.random() < alike else score for i, score in enumerate(fresh)]
        scores += fresh
    return scores


def find_alarms(
    scores: Sequence[int], rate: int, first_day: int, floor: float | None = None, quiet_days: int = 0
) -> Iterator[int]:
    """After how many replies there is an alarm; a caller may keep quiet for some days after each."""
    last: int | None = None
    for day in range(first_day, len(scores) // rate):
        begin, night = (day - WINDOW + 1) * rate, (day + 1) * rate
        reference = scores[max(begin - REFERENCE * rate, 0) : begin]
        if len(reference) < drift.MIN_REFERENCE:
            continue
        tests = to_tests(floor, reference)
        while True:
            start, earliest = begin, day * rate
            if last is not None:
                start, earliest = max(begin, last), max(earliest, last + quiet_days * rate)
            drift_alerts = first_alarm(scores[start:night], earliest - start, tests, drift._threshold(reference))
            if drift_alerts is None:
                break
            recent = scores[start : start + drift_alerts]
            assert isinstance(ask(floor, reference, recent), drift.Drop)
            assert start + drift_alerts == earliest + 1 or ask(floor, reference, recent[:-1]) is None
            last = start + drift_alerts
            yield last


def to_tests(floor: float | None, reference: Sequence[int]) -> list[drift._Test]:
    if floor is None:
        return list(drift._tests_of_drop(reference, SCALE))
    return [drift._test_of_floor(floor, reference, SCALE)]


def ask(floor: float | None, reference: Sequence[int], recent: Sequence[int]) -> drift.Drop | drift.NotEnough | None:
    if floor is None:
        return drift.find_drop(reference, recent, SCALE)
    return drift.find_below(floor, reference, recent, SCALE)


def first_alarm(recent: Sequence[int], earliest: int, tests: list[drift._Test], threshold: float) -> int | None:
    """The least number of replies, more than `earliest`, after which one of the tests alarms."""
    found = []
    for test in tests:
        evidence = list(drift._evidence(recent, test))[earliest + 1 :]
        if max(evidence, default=0) >= threshold:
            found.append(earliest + 1 + next(i for i, each in enumerate(evidence) if each >= threshold))
    return min(found, default=None)


def count_alarms(
    days: Sequence[Shape],
    rate: int,
    *,
    first_day: int = WARM,
    alike: float = 0.0,
    floor: float | None = None,
    quiet: int = 0,
) -> float:
    """Alarms from the first day on, on average."""
    runs = [draw(days, rate, Random(f"{rate} {i}"), alike) for i in range(RUNS[rate])]
    return fmean(len(list(find_alarms(run, rate, first_day, floor, quiet))) for run in runs)


def find_delays(before: Shape, after: Sequence[Shape], rate: int, floor: float | None = None) -> list[float]:
    """Days from the drop to the alarm, sorted; infinite where there is none in the days after it."""
    delays = []
    for i in range(DELAYS[rate]):
        scores = draw([before] * WARM + list(after), rate, Random(f"{rate} {i}"))
        delays.append(next(find_alarms(scores, rate, WARM, floor), inf) / rate - WARM)
    return sorted(delays)


def row(*cells: object) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def rates(count: Callable[[int], float]) -> list[str]:
    return [f"{count(rate):.2f}" for rate in RATES]


def false_alarms() -> None:
    print("\nFalse alarms in 90 days, reference of 28 days; replies a day:", *RATES)
    for name, shape in SHAPES.items():
        row(name, *rates(partial(count_alarms, [shape] * (WARM + QUARTER))))


def new_watches() -> None:
    print("\nFalse alarms in the first 90 days of a new watch; replies a day:", *RATES)
    for name, shape in SHAPES.items():
        row(name, *rates(partial(count_alarms, [shape] * QUARTER, first_day=WINDOW)))


def threads() -> None:
    print("\nFalse alarms in 90 days, replies in threads of three with this correlation; replies a day:", *RATES)
    for name in (PILED, SPREAD, TWO_PEAKS):
        for alike in (0.5, 0.7):
            days = [SHAPES[name]] * (WARM + QUARTER)
            row(name, f"{alike**2:.2f}", *rates(partial(count_alarms, days, alike=alike)))


def weekends() -> None:
    print("\nFalse alarms in 90 days, weekends lower by so many points; replies a day:", *RATES)
    for name in (PILED, SPREAD, TWO_PEAKS):
        for points in (0.3, 0.5):
            weekend = lower(SHAPES[name], points)
            days = [weekend if day % 7 > 4 else SHAPES[name] for day in range(WARM + QUARTER)]
            row(name, points, *rates(partial(count_alarms, days)))


def delays() -> None:
    print("\nDays to the alarm: median, 95th percentile; share within two days, within seven; replies a day:", *RATES)
    for name in (PILED, SPREAD, TWO_PEAKS):
        for points in (1, 0.5):
            after = [lower(SHAPES[name], points)] * AFTER
            row(name, f"{points} points", *(describe(find_delays(SHAPES[name], after, rate)) for rate in RATES))
    after = [with_low_share(SHAPES[PILED], 0.2)] * AFTER
    row(PILED, "0 to 2: 5% to 20%", *(describe(find_delays(SHAPES[PILED], after, rate)) for rate in RATES))


def describe(delays: Sequence[float]) -> str:
    middle, late = delays[len(delays) // 2], delays[int(0.95 * len(delays))]
    soon, week = (fmean(delay <= days for delay in delays) for days in (2, 7))
    return f"{middle:.1f}, {late:.1f}; {soon:.0%}, {week:.0%}"


def slow() -> None:
    print("\nOne point lower, evenly over 28 days: heard within 42 days, on which (median); replies a day:", *RATES)
    for name in (PILED, SPREAD):
        after = [lower(SHAPES[name], min(day / REFERENCE, 1)) for day in range(1, REFERENCE + 15)]
        found = [find_delays(SHAPES[name], after, rate) for rate in RATES]
        row(name, *(f"{fmean(day < inf for day in days):.0%}, {days[len(days) // 2]:.0f}" for days in found))


def repeats() -> None:
    print(
        "\nAlarms in the 42 days after a drop of one point that lasts, without and with a week's quiet after each;",
        *RATES,
    )
    for name in (PILED, SPREAD):
        days = [SHAPES[name]] * WARM + [lower(SHAPES[name], 1)] * 42
        for quiet in (0, 7):
            row(name, quiet, *rates(partial(count_alarms, days, quiet=quiet)))


def floor() -> None:
    print(
        "\nFloor: alarms in 90 days where it is the mean; days to the alarm where the mean falls below it by 0.5, by 1"
    )
    for name in (PILED, SPREAD, TWO_PEAKS):
        shape = SHAPES[name]
        for rate in RATES:
            false = count_alarms([shape] * (WARM + QUARTER), rate, floor=mean(shape))
            fallen = [find_delays(shape, [lower(shape, by)] * AFTER, rate, mean(shape)) for by in (0.5, 1)]
            row(name, rate, f"{false:.2f}", *map(describe, fallen))


PARTS = {
    "false-alarms": false_alarms,
    "new-watches": new_watches,
    "threads": threads,
    "weekends": weekends,
    "delays": delays,
    "slow": slow,
    "repeats": repeats,
    "floor": floor,
}


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
