"""How often a standing changes without a change, and how soon after one; prints the tables of
docs/measurements.md.

    python -m bench.standing                        all parts
    python -m bench.standing false delays           some: check, false, delays, best, year, back, releases, floor, blame
    python -m bench.standing false --runs 25 --seed 7

A run is a quarter of one assistant, with one look a day. Each cell has `--runs` runs for each of
four distributions of scores, one after the other; a rate's standard error is shown beside it.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Literal
from zlib import crc32

import numpy as np
from scipy.special import ndtr  # type: ignore[import-untyped]

from bench import shapes
from bench.many_standings import FIRST, Floats, Found, Ints, Series, check, follow, on
from bench.shapes import SCALE, Shape, mean, row
from judge.evaluation.blame import STEPS, find_blame
from judge.evaluation.standing import Direction, Event, below, step_at
from judge.evaluation.tally import WINDOW

SHAPES = {name: shape for name, shape in shapes.SHAPES.items() if name != "zeros and fives"}
RATES = (10, 40, 200)
QUARTER = 90
_THREADS = (3, 1, 6, 2, 5, 4)  # replies in each thread
_TENTHS = 10  # channels
_FURTHEST = 3.0  # levels are between these many points below and above


@dataclass(frozen=True)
class World:
    """How an assistant's scores vary while it does not change.

    Attributes:
        threads: The correlation of scores of a thread.
        weekend: How many points lower weekends are; they have a third of the replies, too.
        days: The standard deviation of a day's level.
        alike: The correlation of a day's level with the day before.
        channels: Ten of different levels; in the quarter's second month one gets six times as busy,
            comes or goes.
    """

    threads: float = 0.0
    weekend: float = 0.0
    days: float = 0.0
    alike: float = 0.0
    channels: Literal["one", "ten", "busy", "comes", "goes"] = "one"

    def draw(
        self, shape: Shape, rate: float, drops: Sequence[float], runs: int, seed: str
    ) -> Series:
        """The scores of days which are so many points lower, at so many a day."""
        random = np.random.default_rng(crc32(f"{seed} {self} {shape} {rate}".encode()))
        levels = np.array(drops) + self._days(len(drops), runs, random)
        channels = 1 if self.channels == "one" else _TENTHS
        own = random.normal(0, 0.5 * (channels > 1), (runs, channels))
        scores = []
        ids = []
        threads = []
        for channel in range(channels):
            expected = self._expected(rate / channels, channel, len(drops), random)
            if channels == 1:
                counts = np.broadcast_to(np.round(expected).astype(int), (runs, len(drops)))
            else:
                counts = random.poisson(expected, (runs, len(drops)))
            drawn = self._scores(shape, levels + own[:, [channel]], counts, random)
            scores.append(drawn)
            ids += [channel] * drawn.shape[2]
            in_order = np.resize(np.repeat(np.arange(len(_THREADS)), _THREADS), drawn.shape[2])
            if self.threads:
                turn = np.arange(drawn.shape[2]) // sum(_THREADS)
                threads += list(in_order + len(_THREADS) * turn + 1000 * channel)
            else:
                threads += [-1] * drawn.shape[2]
        return Series(np.concatenate(scores, axis=2), np.array(ids), np.array(threads))

    def _days(self, days: int, runs: int, random: np.random.Generator) -> Floats:
        """How many points lower each day is."""
        found = np.zeros((runs, days))
        level = random.normal(0, self.days, runs)
        for day in range(days):
            change = random.normal(0, self.days * sqrt(1 - self.alike**2), runs)
            level = self.alike * level + change
            found[:, day] = level + self.weekend * (day % 7 > 4)
        return found

    def _expected(
        self, rate: float, channel: int, days: int, random: np.random.Generator
    ) -> Floats:
        expected = np.full(days, float(rate))
        if self.weekend:
            weekends = np.arange(days) % 7 > 4
            expected *= np.where(weekends, 0.4, 1.2) * np.exp(random.normal(0, 0.2, days))
        second_month = days - 60
        if channel == 0:
            factors = {"busy": (1, 6), "comes": (0, 1), "goes": (1, 0)}
            before, after = factors.get(self.channels, (1, 1))
            expected[:second_month] *= before
            expected[second_month:] *= after
        return expected

    def _scores(
        self, shape: Shape, levels: Floats, counts: Ints, random: np.random.Generator
    ) -> Ints:
        most = int(counts.max())
        found = np.full((*counts.shape, most), -1)
        in_thread = np.resize(np.repeat(np.arange(len(_THREADS)), _THREADS), most)
        in_thread = in_thread + len(_THREADS) * (np.arange(most) // sum(_THREADS))
        for day in range(counts.shape[1]):
            shares = lowered(shape, levels[:, day])
            day_scores = _pick(shares, random.random((len(counts), most)))
            if self.threads and most:
                own = _pick(shares, random.random((len(counts), int(in_thread.max()) + 1)))
                is_own = random.random((len(counts), most)) < sqrt(self.threads)
                day_scores = np.where(is_own, own[:, in_thread], day_scores)
            is_there = np.arange(most) < counts[:, [day]]
            found[:, day] = np.where(is_there, day_scores, -1)
        return found


def _pick(shares: Floats, places: Floats) -> Ints:
    """The scores at these places, from 0 to 1, of each run's cumulative shares."""
    scores: Ints = (places[:, :, None] > shares[:, None, :5]).sum(2)
    return scores


def lowered(shape: Shape, points: Floats) -> Floats:
    """The cumulative shares of shapes with a mean that many points lower."""
    steps = np.clip(np.round((np.asarray(points) + _FURTHEST) * 100), 0, 200 * _FURTHEST)
    found: Floats = _table(shape)[steps.astype(int)]
    return found


@cache
def _table(shape: Shape) -> Floats:
    """Each share times exp(t * score), which is the smallest change that gives a mean."""
    points = np.arange(-100 * _FURTHEST, 100 * _FURTHEST + 1) / 100
    scores = np.arange(6)
    wanted = np.clip(np.array(shape) @ scores - points, 0.02, 4.98)
    low = np.full(len(points), -30.0)
    high = np.full(len(points), 30.0)
    for _ in range(60):
        middle = (low + high) / 2
        weights = np.array(shape) * np.exp(np.outer(middle, scores - 2.5))
        weights /= weights.sum(1, keepdims=True)
        is_above = weights @ scores > wanted
        low = np.where(is_above, low, middle)
        high = np.where(is_above, middle, high)
    cumulative: Floats = weights.cumsum(1)
    return cumulative


WORLDS: Mapping[str, World] = {
    "independent scores": World(),
    "threads of one to six, correlation 0.4": World(threads=0.4),
    "the same, 0.7": World(threads=0.7),
    "weekends 0.5 lower, volumes vary": World(weekend=0.5),
    "ten channels, one gets busy": World(channels="busy"),
    "one comes": World(channels="comes"),
    "one goes": World(channels="goes"),
    "days vary by 0.15": World(days=0.15),
    "correlation 0.5 with the day before": World(days=0.15, alike=0.5),
    "correlation 0.7": World(days=0.15, alike=0.7),
    "correlation 0.9": World(days=0.15, alike=0.9),
    "days vary by 0.25": World(days=0.25),
    "by 0.25, correlation 0.7": World(days=0.25, alike=0.7),
    "by 0.25, correlation 0.9": World(days=0.25, alike=0.9),
}
DROPS: Mapping[str, World] = {
    "independent scores": World(),
    "threads, correlation 0.2": World(threads=0.2),
    "days vary by 0.15, correlation 0.7": World(days=0.15, alike=0.7),
    "days vary by 0.25, correlation 0.7": World(days=0.25, alike=0.7),
}
_CHANGES = {Event.BEGAN, Event.FURTHER}


@dataclass(frozen=True)
class Quality:
    """How many runs a cell has for each shape, and which ones."""

    runs: int
    seed: int

    def draws(
        self,
        world: World,
        rate: float,
        drops: Sequence[float],
        shapes: Sequence[str] = tuple(SHAPES),
    ) -> Sequence[Series]:
        return [world.draw(SHAPES[name], rate, drops, self.runs, str(self.seed)) for name in shapes]


def mean_of(numbers: Sequence[float]) -> str:
    error = float(np.std(numbers)) / sqrt(len(numbers))
    return f"{np.mean(numbers):.2f} ± {error:.2f}"


def per_run(found: Sequence[Found], runs: int) -> list[float]:
    """How many changes were told in each run."""
    told = Counter(each.run for each in found if each.event in _CHANGES)
    return [float(told[run]) for run in range(runs)]


def check_both_ways(quality: Quality) -> None:
    """Compares the many looks with `look` itself."""
    drops = [0.0] * WINDOW + [1.0] * 12 + [0.0] * 10 + [0.7] * 35
    worlds = World(threads=0.4, days=0.15), World(channels="comes"), World(weekend=0.5)
    for world in worlds:
        for shape in list(SHAPES.values())[:2]:
            check(world.draw(shape, 20, drops, 1, str(quality.seed)), 30, len(drops))
    print("\nThe looks of many runs at once agree with single ones.")


def false_changes(quality: Quality) -> None:
    print("\nChanges told in 90 days without one; replies a day:", *RATES)
    for name, world in WORLDS.items():
        cells = []
        for rate in RATES:
            told = list[float]()
            for series in quality.draws(world, rate, [0.0] * (WINDOW + QUARTER)):
                told += per_run(follow(series, WINDOW, WINDOW + QUARTER - 1), quality.runs)
            cells.append(mean_of(told))
        row(name, *cells)
    told = []
    for series in quality.draws(World(), 40, [0.0] * QUARTER):
        told += per_run(follow(series, 1, QUARTER), quality.runs)
    row("a new assistant", "", mean_of(told), "")


def delays(quality: Quality) -> None:
    print("\nA point's drop told within 2, 7, 21 days; the same for each shape within 2, 7")
    for name, world in DROPS.items():
        for rate in (40, 10):
            row(name, f"{rate} a day", *_delays(world, rate, 1.0, quality))
        ten = World(world.threads, 0, world.days, world.alike, "ten")
        row(name, "ten channels, five a week", *_delays(ten, 50 / 7, 1.0, quality))
    for name in ("independent scores", "days vary by 0.15, correlation 0.7"):
        row(f"half a point, {name}", "40 a day", *_delays(DROPS[name], 40, 0.5, quality))


def best(quality: Quality) -> None:
    print(
        "\nThe best that can be had: a test that knows the scores before and after, and that only chance"
        " varies (CUSUM),\nwith 0.1 false drops a quarter: told within 2, 7 days; the same for each shape"
    )
    for volume, rate in {
        "40 a day": 40,
        "10 a day": 10,
        "ten channels, five a week": 50 / 7,
    }.items():
        for name, correlation in {
            "independent scores": 0.0,
            "threads, correlation 0.2": 0.2,
        }.items():
            # Scores of threads count for as many independent ones.
            length = sum(n**2 for n in _THREADS) / sum(_THREADS)
            alone = rate / (1 + correlation * (length - 1))
            days = np.array([_best_days(shape, alone, quality) for shape in SHAPES.values()])
            soon = [
                ", ".join(f"{np.mean(some <= k):.0%}" for k in (2, 7)) for some in [days, *days]
            ]
            row(name, volume, *soon)


def _best_days(shape: Shape, rate: float, quality: Quality) -> Ints:
    """After how many days each run is told of a point's drop."""
    runs = 40 * quality.runs
    random = np.random.default_rng(quality.seed)
    shares = [np.diff(lowered(shape, np.array([points])), prepend=0)[0] for points in (0.0, 1.0)]
    gains = np.log(np.maximum(shares[1], 1e-9) / np.maximum(shares[0], 1e-9))

    def drawn(number: int, days: int) -> Floats:
        counts = random.poisson(rate, (runs, days))
        found: Floats = random.multinomial(counts, shares[number]) @ gains
        return found

    quarters = drawn(0, QUARTER)
    limits = np.arange(0.5, 15, 0.1)
    false = [np.mean(_alarms_of(quarters, limit).sum(1)) for limit in limits]
    limit = float(limits[np.array(false) <= 0.1][0])
    told = _alarms_of(np.concatenate([drawn(0, 28), drawn(1, 21)], axis=1), limit)[:, 28:]
    days: Ints = np.where(told.any(1), told.argmax(1) + 1, 99)
    return days


def _alarms_of(gains: Floats, limit: float) -> Floats:
    """On which days of each run the sum of gains passes the limit; it is 0 at least, and after it."""
    found = np.zeros(gains.shape)
    level = np.zeros(len(gains))
    for day in range(gains.shape[1]):
        level = np.maximum(level + gains[:, day], 0)
        found[:, day] = level > limit
        level[level > limit] = 0
    return found


def _delays(world: World, rate: float, points: float, quality: Quality) -> list[str]:
    days = []
    for first, shape in enumerate(SHAPES, WINDOW + 1):
        (series,) = quality.draws(world, rate, [0.0] * first + [points] * 21, [shape])
        told = dict.fromkeys(range(quality.runs), 99)
        for each in follow(series, first, first + 21):
            # With few scores the likeliest day is some days off; an earlier one is found by chance.
            is_it = each.state.since and each.state.since >= on(first - 7)
            if is_it and each.state.direction is Direction.LOWER:
                told[each.run] = min(told[each.run], each.day - first)
        days.append(list(told.values()))
    found = np.array(days)
    by_shape = (f"{np.mean(each <= 2):.0%}, {np.mean(each <= 7):.0%}" for each in found)
    return [", ".join(f"{np.mean(found <= limit):.0%}" for limit in (2, 7, 21)), *by_shape]


def year(quality: Quality) -> None:
    print("\nChanges told in a year without one, in the worst of the runs, at 40 a day")
    names = ("independent scores", "weekends 0.5 lower, volumes vary", "correlation 0.7")
    for name in (*names, "by 0.25, correlation 0.9"):
        told = list[float]()
        for series in quality.draws(WORLDS[name], 40, [0.0] * (WINDOW + 365)):
            told += per_run(follow(series, WINDOW, WINDOW + 364), quality.runs)
        row(name, mean_of(told), f"{max(told):.0f}")


def back(quality: Quality) -> None:
    print(
        "\nA point's drop of two weeks at 40 a day: told, then back within a week after its end, "
        "median days; told again within four weeks. A drop that stays: so it is told, told again"
    )
    for name, world in DROPS.items():
        ends = list[int]()
        begun = 0
        again = 0
        for shape in SHAPES:
            (series,) = quality.draws(world, 40, [0.0] * 51 + [1.0] * 14 + [0.0] * 28, [shape])
            found = follow(series, 51, 92)
            for run in range(quality.runs):
                events = [each for each in found if each.run == run]
                drops = [each for each in events if each.state.direction is Direction.LOWER]
                if not drops:
                    continue
                begun += 1
                end = [each.day - 65 for each in events if each.event is Event.BACK]
                ends += end[:1]
                again += any(each.day > 65 and each.event in _CHANGES for each in events)
        stayed = 0
        begun_for_good = 0
        told_again = 0
        for shape in SHAPES:
            (series,) = quality.draws(world, 40, [0.0] * 51 + [1.0] * 56, [shape])
            found = follow(series, 51, 106)
            for run in range(quality.runs):
                events = [each for each in found if each.run == run]
                begun_for_good += bool(events)
                stayed += any(each.event is Event.STAYED for each in events)
                told_again += sum(each.event in _CHANGES for each in events) > 1
        soon = sum(0 < day <= 7 for day in ends)
        row(
            name,
            f"{soon / begun:.0%} of {begun}, {np.median(ends):.0f}; {again / begun:.0%}",
            f"{stayed / begun_for_good:.0%}, {told_again / begun_for_good:.0%}",
        )


def releases(quality: Quality) -> None:
    print("\nA release without a change is called better, worse; after 7, 14, 21 days at 15 a day")
    for name, world in {
        "weekends 0.5 lower, days vary by 0.15": World(weekend=0.5, days=0.15),
        "days vary by 0.15, correlation 0.7": World(days=0.15, alike=0.7),
        "days vary by 0.3": World(days=0.3),
        "by 0.3, correlation 0.7": World(days=0.3, alike=0.7),
    }.items():
        row(name, *(_sides(world, 15, 0.0, weeks, quality) for weeks in (1, 2, 3)))
    print("\nHalf a point lower is seen: at 15 a day in 21 days, at 40 a day in 7")
    for name, world in {
        "independent scores": World(),
        "threads, correlation 0.2": World(threads=0.2),
        "days vary by 0.15": World(days=0.15),
        "weekends 0.5 lower, days vary by 0.15": World(weekend=0.5, days=0.15),
    }.items():
        row(name, _sides(world, 15, 0.5, 3, quality), _sides(world, 40, 0.5, 1, quality))


def _sides(world: World, rate: int, points: float, weeks: int, quality: Quality) -> str:
    higher = 0
    lower = 0
    for number, shape in enumerate(SHAPES):
        # On another weekday for each shape.
        first = 35 + number
        last = first + 7 * weeks
        (series,) = quality.draws(world, rate, [0.0] * first + [points] * 7 * weeks, [shape])
        for run in range(quality.runs):
            scores = series.of_run(run, last - WINDOW, last)
            step = step_at(scores, on(first), on(last), SCALE)
            higher += step is not None and step.is_clear and step.mean > 0
            lower += step is not None and step.is_clear and step.mean < 0
    n = quality.runs * len(SHAPES)
    return f"{higher / n:.1%}, {lower / n:.1%} of {n}"


def floor(quality: Quality) -> None:
    print(
        "\nBelow the floor, in 90 days with the mean at it; told of a mean a point lower within 2, 7 days"
    )
    runs = Quality(max(quality.runs // 4, 1), quality.seed)
    for name in ("independent scores", "the same, 0.7", "correlation 0.7", "correlation 0.9"):
        world = WORLDS[name]
        alarms = list[float]()
        days = list[int]()
        for shape in SHAPES:
            middle = mean(SHAPES[shape])
            (series,) = runs.draws(world, 40, [0.0] * (WINDOW + QUARTER), [shape])
            alarms += [_alarms(series, run, middle) for run in range(runs.runs)]
            (series,) = runs.draws(world, 40, [0.0] * 50 + [1.0] * 7, [shape])
            for run in range(runs.runs):
                looks = range(51, 58)
                told = [
                    day - 50
                    for day in looks
                    if below(middle, series.of_run(run, day - WINDOW, day), on(day), SCALE)
                ]
                days.append(min(told, default=99))
        soon = ", ".join(f"{np.mean(np.array(days) <= limit):.0%}" for limit in (2, 7))
        row(name, mean_of(alarms), soon)


def _alarms(series: Series, run: int, middle: float) -> float:
    """How often an alert is sent, which is repeated after a week at the earliest."""
    told = 0
    last = -7
    for day in range(WINDOW, WINDOW + QUARTER):
        if day < last + 7:
            continue
        if below(middle, series.of_run(run, day - WINDOW, day), on(day), SCALE):
            told += 1
            last = day
    return float(told)


def blame(quality: Quality) -> None:
    print(
        "\nQuarters in which a change is told as the assistant's, the judge's, of both, or left open. A "
        "judge is stricter\nfrom the second month on; what it gives a reply now and gave it then are "
        "that much correlated. Replies a day:",
        *RATES[:2],
    )
    for correlation in (0.9, 0.5):
        for stricter in (0.2, 0.3, 0.4):
            name = f"the judge {stricter} stricter, correlation {correlation}"
            row(name, *(_blamed(rate, stricter, 0, correlation, quality) for rate in RATES[:2]))
    row("the assistant a point worse", *(_blamed(rate, 0, 1, 0.9, quality) for rate in RATES[:2]))
    row(
        "the judge 0.5 stricter, and the assistant a point worse",
        *(_blamed(rate, 0.5, 1, 0.9, quality) for rate in RATES[:2]),
    )
    row("nothing", *(_blamed(rate, 0, 0, 0.9, quality) for rate in RATES[:2]))


def _blamed(rate: int, stricter: float, worse: float, correlation: float, quality: Quality) -> str:
    changed = WINDOW + 30
    told = Counter[str]()
    for shape in SHAPES:
        drops = [0.0] * changed + [stricter + worse] * (QUARTER - 30)
        (series,) = quality.draws(World(), rate, drops, [shape])
        random = np.random.default_rng(quality.seed)
        is_open = dict[int, str]()
        ended = set[int]()
        named = set[tuple[int, str]]()
        for each in follow(series, WINDOW, WINDOW + QUARTER - 1, is_for_blame=True):
            if each.size is None or each.state.since is None or each.run in ended:
                continue
            if each.event is None and is_open.get(each.run) != "open":
                continue
            begun = (each.state.since - FIRST).days
            oldest = max(each.day - WINDOW, 0)
            with_it = max(begun - changed, 0) / (begun - oldest)
            now = stricter if each.day > changed else 0.0
            who = _ask(SHAPES[shape], now, with_it, correlation, each, random)
            is_open[each.run] = who
            named.add((each.run, who))
            # A change of the judge begins another series.
            if who in {"judge", "both"}:
                ended.add(each.run)
        told.update(who for _, who in named)
        told["open"] -= sum(
            (run, "open") in named
            and any((run, who) in named for who in ("assistant", "judge", "both"))
            for run in is_open
        )
    n = quality.runs * len(SHAPES)
    return " ".join(f"{told[who] / n:.1%}" for who in ("assistant", "judge", "both", "open"))


def _ask(
    shape: Shape,
    stricter: float,
    with_it: float,
    correlation: float,
    found: Found,
    random: np.random.Generator,
) -> str:
    """Who is blamed, if that share of the earlier replies was scored by the judge as it is now."""
    assert found.size
    most = STEPS[-1]
    place = random.normal(size=most)
    again = correlation * place + sqrt(1 - correlation**2) * random.normal(size=most)
    was = np.where(random.random(most) < with_it, stricter, 0.0)
    stored = _pick(lowered(shape, was), ndtr(place)[:, None])[:, 0]
    new = _pick(lowered(shape, np.full(most, stricter)), ndtr(again)[:, None])[:, 0]
    asked = list(zip(stored.tolist(), new.tolist(), strict=True))
    step = found.size.interval(SCALE)
    for n in STEPS:
        who = find_blame(asked[:n], step, SCALE).who
        if who != "unclear":
            break
    return who if who in {"assistant", "judge", "both"} else "open"


PARTS: Mapping[str, Callable[[Quality], None]] = {
    "check": check_both_ways,
    "false": false_changes,
    "delays": delays,
    "best": best,
    "year": year,
    "back": back,
    "releases": releases,
    "floor": floor,
    "blame": blame,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--runs", type=int, default=10, help="for each of four distributions")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for part in chosen.parts or PARTS:
        PARTS[part](Quality(chosen.runs, chosen.seed))


if __name__ == "__main__":
    main()
