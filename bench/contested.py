"""How often it is said that askers contest more good scores than before: `python -m bench.contested`.

In each world an assistant has so many replies with good scores a week, of which a share is
contested, whose threads were read. Replies of a thread are alike (correlation 0.3). Each week of a
year four weeks are compared with the four before. The first figure is the share of years with a
false word; the second, of years in which the share rises from 5% to 20%, those that are told of it,
and the third is after how many weeks, in the middle.
"""

import sys
from collections import Counter
from statistics import median

import numpy as np

from bot.features.outcome.shares import FEWEST_CONTESTED, TAIL
from judge.evaluation.stats import MeanEstimator, difference
from judge.scoring.rubric import Scale

WEEKS = 52
RISE = 20
ALIKE = 0.3
Week = Counter[tuple[int, int]]
"""The number of threads with so many replies, of which so many are contested."""


def week(generator: np.random.Generator, replies: float, share: float) -> Week:
    threads = Week()
    left = int(generator.poisson(replies))
    while left > 0:
        size = min(left, int(generator.geometric(0.6)))
        left -= size
        odds = (1 - ALIKE) / ALIKE
        chance = generator.beta(share * odds, (1 - share) * odds)
        threads[size, int(generator.binomial(size, chance))] += 1
    return threads


def first_told(generator: np.random.Generator, replies: float, before: float, after: float) -> int:
    """The week in which it is told first, from 0; -1 if it is not."""
    shares = [before if number < RISE + 8 else after for number in range(WEEKS + 8)]
    weeks = [week(generator, replies, share) for share in shares]
    for number in range(WEEKS):
        this = sum(weeks[number + 4 : number + 8], Week())
        last = sum(weeks[number : number + 4], Week())
        if _is_told(this, last):
            return number
    return -1


def _is_told(this: Week, last: Week) -> bool:
    if sum(contested * times for (_, contested), times in this.items()) < FEWEST_CONTESTED:
        return False
    estimates = [_estimate(threads).estimate() for threads in (this, last)]
    now, before = estimates
    change = difference(now, before, TAIL) if now and before else None
    return change is not None and change.low is not None and change.low > 0


def _estimate(threads: Week) -> MeanEstimator:
    share = MeanEstimator(Scale(0, 1))
    for (size, contested), times in threads.items():
        for thread in range(times):
            key = (size, contested, thread)
            share.add(1, cluster=key, times=contested)
            share.add(0, cluster=key, times=size - contested)
    return share


def main(runs: int) -> None:
    generator = np.random.default_rng(11)
    for replies in (5, 20, 80):
        told = [
            first_told(generator, replies, share, share) >= 0
            for share in (0.03, 0.1)
            for _ in range(runs)
        ]
        rises = [first_told(generator, replies, 0.05, 0.2) for _ in range(runs)]
        heard = [number - RISE + 1 for number in rises if number >= RISE]
        after = f", after {median(heard):.0f} weeks" if heard else ""
        print(
            f"{replies} a week: false in {np.mean(told):.1%} of years; "
            f"a rise in {len(heard) / runs:.0%}{after}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 200)
