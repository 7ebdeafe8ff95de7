"""Who is blamed for a drop, the assistant or the judge; prints the table of docs/measurements.md.

    python -m bench.blame                      made-up judges (a minute)
    python -m bench.blame judgements.jsonl     real judges, each replaced by another: rows with `judge`, `true_score`

A reply has a place in a judge's order, between 0 and 1. Two judges see the same place with an error
of their own each time, and give the scores that they gave to that share of the recorded replies.
From one day on the assistant's replies are worse, another judge answers under the same name, both,
or neither. Once `find_drop` has an alarm, the judge is asked again, as the bot does it. Where
nothing changes, there is no alarm, and the day is the fourth.
"""

import json
import sys
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate, permutations
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean

from bench.drift import FIRST, PILED, SPREAD, lower, row
from judge.evaluation.blame import FEWEST, STEPS, Blame, find_blame
from judge.evaluation.drift import DatedScore, find_drop
from judge.evaluation.drift import Kind as Figure
from judge.scoring.rubric import Scale

RATES = (20, 60, 200)
RUNS = 40
_TRUTH = 500  # replies from which the judge's true change is taken
REFERENCE = 28
WINDOW = 7
# of a place, as a normal quantile: the same judge differs by 0.3 to 0.6 points from itself
NOISE = 0.25
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Pair:
    """A judge, and the one that answers in its place later: the cumulative shares of their scores,
    lowest first.
    """

    scale: Scale
    before: Sequence[float]
    after: Sequence[float]


@dataclass(frozen=True)
class World:
    """What changes on the day: how much worse the replies are (as normal quantiles), and whether
    the judge is another.

    Attributes:
        is_long_only: Whether the other judge differs for a third of the replies only, the long
            ones.
        stale: The days before the change since when the other judge has answered; none has noticed.
    """

    worse: float = 0.0
    is_judge: bool = False
    is_long_only: bool = False
    stale: int | None = None


WORLDS: Mapping[str, World] = {
    "the assistant": World(worse=0.7),
    "the judge": World(is_judge=True),
    "both": World(worse=0.7, is_judge=True),
    "the judge, long replies only": World(is_judge=True, is_long_only=True),
    "the assistant, long after the judge": World(worse=0.7, is_judge=True, stale=60),
    "neither": World(),
}


def made_up() -> list[Pair]:
    shapes = [(shape, lower(shape, points)) for shape in (PILED, SPREAD) for points in (0.5, 0.8)]
    return [Pair(Scale(0, 5), *(list(accumulate(each)) for each in pair)) for pair in shapes]


def recorded(path: Path) -> list[Pair]:
    """Each judge followed by each one that is clearly stricter."""
    given = defaultdict[str, list[int]](list)
    for line in path.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        if found["true_score"] is not None and found["true_score"] == int(found["true_score"]):
            given[found["judge"]].append(int(found["true_score"]))
    scale = Scale(1, 10)
    shares = {
        judge: list(accumulate(scores.count(each) / len(scores) for each in range(1, 11)))
        for judge, scores in given.items()
    }
    pairs = [
        (one, other)
        for one, other in permutations(given, 2)
        if fmean(given[one]) - fmean(given[other]) > 0.8
    ]
    return [Pair(scale, shares[one], shares[other]) for one, other in pairs]


def score(pair: Pair, place: float, random: Random, *, is_later: bool) -> int:
    """What a judge gives this time to a reply at this place (as a normal quantile)."""
    shares = pair.after if is_later else pair.before
    at = _NORMAL.cdf((place + random.gauss(0, NOISE)) / (1 + NOISE**2) ** 0.5)
    return min(pair.scale.low + bisect(shares, at), pair.scale.high)


def run(world: World, pair: Pair, rate: int, random: Random) -> tuple[Blame, float] | None:
    """Who is blamed at the alarm, and the true change of the judge; None if there is no alarm
    within a week.
    """
    stored = list[DatedScore]()
    places = list[tuple[float, bool]]()

    def is_other(day: int, *, is_long: bool) -> bool:
        since = REFERENCE if world.stale is None else REFERENCE - world.stale
        return world.is_judge and day >= since and (is_long or not world.is_long_only)

    for day in range(REFERENCE + WINDOW):
        for _ in range(rate):
            place = random.gauss(-world.worse * (day >= REFERENCE), 1)
            is_long = random.random() < 1 / 3
            places.append((place, is_long))
            given = score(pair, place, random, is_later=is_other(day, is_long=is_long))
            stored.append(DatedScore(given, FIRST + timedelta(days=day)))
    reference = stored[: REFERENCE * rate]
    n = REFERENCE * rate
    figure: Figure = "mean"
    since = 0
    recent = stored[n : n + 4 * rate]
    if world.worse or world.is_judge:
        ends = range(n + rate // 2, len(stored) + 1, rate // 2)
        found = ((end, find_drop(reference, stored[n:end], pair.scale)) for end in ends)
        end, drop = next(((end, drop) for end, drop in found if drop), (0, None))
        if drop is None:
            return None
        figure = drop.kind
        since = drop.since
        recent = stored[n:end]
    drawn = random.sample(range(n), min(STEPS[-1], n))
    asked = list[tuple[int, int]]()
    for begin, stop in zip((0, *STEPS), STEPS, strict=False):
        for each in drawn[begin:stop]:
            place, is_long = places[each]
            is_later = is_other(REFERENCE, is_long=is_long)
            asked.append((stored[each].score, score(pair, place, random, is_later=is_later)))
        before = [each.score for each in reference]
        after = [each.score for each in recent[since:]]
        blame = find_blame(asked, before, after, figure, pair.scale)
        if blame.who != "unclear":
            break
    assert len(asked) >= FEWEST
    sign = -1 if figure == "low share" else 1
    middle = (pair.scale.low + pair.scale.high) / 2

    def value(given: int) -> float:
        return float(given < middle) if sign < 0 else given

    truth = fmean(
        value(score(pair, place, random, is_later=is_other(REFERENCE, is_long=is_long)))
        - value(stored[each].score)
        for each, (place, is_long) in enumerate(places[:_TRUTH])
    )
    return blame, truth


def main() -> None:
    pairs = recorded(Path(sys.argv[1])) if sys.argv[1:] else made_up()
    print(
        f"{len(pairs)} pairs of judges, {RUNS} runs. Blamed: assistant, judge (alone, or "
        "not clear), both, open;"
    )
    print("share of intervals that hold the judge's true change; replies a day:", *RATES)
    for name, world in WORLDS.items():
        cells = []
        for rate in RATES:
            runs = (
                run(world, pairs[i % len(pairs)], rate, Random(f"{name} {rate} {i}"))
                for i in range(RUNS)
            )
            found = [each for each in runs if each]
            who = Counter(blame.who for blame, _ in found)
            covered = fmean(
                (blame.judge.low or 0) <= truth <= (blame.judge.high or 0) for blame, truth in found
            )
            n = len(found)
            judge = who["judge"] + who["judge or both"]
            shares = (who["assistant"], judge, who["both"], who["unclear"])
            cells.append(f"{' '.join(f'{each / n:.0%}' for each in shares)}; {covered:.0%} of {n}")
        row(name, *cells)


if __name__ == "__main__":
    main()
