"""How often the corrected mean's 95% interval holds the truth where labellers differ: `python -m
bench.severity`.

Of 2,000 replies some get a label, each by a person drawn by the shares that the world sets, and a
part of them a second one by another person. Labels are whole numbers from 0 to 5. The truth is the
mean of what each of those with shared replies would give to all 2,000. Of four figures, the first
is the share of samples whose interval holds the truth, the second how wide it is, the third how
many samples are corrected for severity at all, and the last the share that holds without that
correction.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from judge.evaluation.severity import NOBODYS, Given, Severities
from judge.evaluation.stats import Interval, MeanEstimator
from judge.scoring.rubric import Scale

SCALE = Scale(0, 5)
REPLIES = 2000
PEOPLE = (2, 3, 5, 8)
LABELLED = (
    (40, 0.2),
    (40, 0.5),
    (80, 0.2),
    (150, 0.0),
    (150, 0.1),
    (150, 0.2),
    (150, 0.5),
    (300, 0.1),
    (300, 0.2),
)
"""How many replies get a label, and the part of them that gets a second one."""
JUDGES = (0.3, 0.6, 0.8)
WORLDS = (
    "all alike, equal shares",
    "all alike, one gives 85%",
    "one is strict and gives 85%",
    "the same, the others differ",
    "the same, two of them share",
    "severities normal",
    "two camps",
    "one only gives 2 to 4",
    "one gives 85% at random",
    "one is strict, most are fives",
)


class World:
    def __init__(self, name: str, people: int, generator: np.random.Generator) -> None:
        one = np.zeros(people)
        rest = np.arange(people) > 0
        one[0] = 1
        self._slope = np.ones(people)
        self._noise = np.full(people, 0.6)
        self.linked = people
        self._more = np.zeros(people)
        mean = 4.8 if "fives" in name else generator.choice([2.5, 3.2, 3.8])
        self.shares = 0.85 * one + 0.15 / (people - 1) * rest
        if "strict" in name or "the same" in name:
            self._more = -1.2 * one + 0.5 * ("the same" in name) * rest * generator.normal(
                size=people
            )
        if "two of them" in name:
            self.linked = min(people, 3)
        if "equal" in name:
            self.shares = np.ones(people) / people
        if "normal" in name:
            self._more = generator.normal(0, 0.7, people)
            self.shares = generator.dirichlet(np.ones(people))
        if "camps" in name:
            self._more = np.where(np.arange(people) < people / 2, -0.8, 0.8)
            self.shares = np.where(self._more < 0, 4.0, 1.0)
            self.shares /= self.shares.sum()
        if "2 to 4" in name:
            self._slope = 1 - 0.7 * one
        if "random" in name:
            self._noise = 0.6 + one
        self.level = mean + generator.normal(0, 1.2, REPLIES)
        self._generator = generator

    def labels(self, person: int, replies: Sequence[int] | slice) -> np.ndarray:
        level = self.level[replies]
        given = 3 + self._slope[person] * (level - 3) + self._more[person]
        return np.asarray(
            np.clip(
                np.rint(given + self._generator.normal(0, self._noise[person], len(level))), *SCALE
            )
        )

    def scores(self, correlation: float) -> np.ndarray:
        z = (self.level - self.level.mean()) / self.level.std()
        chance = self._generator.normal(size=REPLIES)
        return np.asarray(
            np.clip(
                np.rint(3 + 1.3 * (correlation * z + (1 - correlation**2) ** 0.5 * chance)), *SCALE
            )
        )

    def draw(self, number: int, part: float) -> tuple[Sequence[int], Sequence[Given]]:
        replies = self._generator.choice(REPLIES, number, replace=False).tolist()
        found = []
        for at, reply in enumerate(replies):
            first = int(self._generator.choice(len(self.shares), p=self.shares))
            others = self.shares * (np.arange(len(self.shares)) < self.linked)
            others[first] = 0
            by = [first]
            if at < part * number and first < self.linked and others.any():
                by.append(int(self._generator.choice(len(others), p=others / others.sum())))
            found.append([(str(each), float(self.labels(each, [reply])[0])) for each in by])
        return replies, found


def estimates(
    name: str, people: int, number: int, part: float, samples: int
) -> Iterator[tuple[float, bool, Interval, Interval]]:
    generator = np.random.default_rng(52)
    for _ in range(samples):
        world = World(name, people, generator)
        scores = world.scores(generator.choice(JUDGES))
        replies, given = world.draw(number, part)
        severities = Severities(given)
        who = severities.people or map(str, range(people))
        truth = np.mean(
            [[world.labels(int(each), slice(None)).mean() for _ in range(5)] for each in who]
        )
        found = []
        for its in (severities, NOBODYS):
            mean = MeanEstimator(SCALE, its)
            for score, times in Counter(np.delete(scores, replies).tolist()).items():
                mean.add(score, times=times)
            for reply, each in zip(replies, given, strict=True):
                mean.add(float(scores[reply]), given=each)
            estimate = mean.estimate()
            assert estimate
            assert estimate.corrected
            found.append(estimate.corrected)
        yield float(truth), bool(severities.of), found[0], found[1]


def holds(truth: float, interval: Interval) -> bool:
    return (interval.low or 0) <= truth <= (interval.high or 0)


def main(samples: int) -> None:
    print(
        f"{'replies with a label, shared':<32}",
        *(f"{number:>4} {part:>4.0%}         " for number, part in LABELLED),
    )
    for name, people in product(WORLDS, PEOPLE):
        cells = []
        for number, part in LABELLED:
            found = [*estimates(name, people, number, part, samples)]
            its = [each for each in found if each[1]]
            held = [holds(each[0], each[2]) for each in its]
            width = [(e[2].high or 0) - (e[2].low or 0) for e in its]
            figures = (
                f"{100 * np.mean(held):>4.0f} {np.mean(width):.2f}"
                if len(its) > samples / 20
                else "   –    –"
            )
            without = np.mean([holds(truth, each) for truth, *_, each in found])
            cells.append(f"{figures:<9}{100 * len(its) / samples:>4.0f}{100 * without:>4.0f} ")
        print(f"{name:<30}{people:>2}", *cells, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
