"""Looks at many series at once, with numpy: what `judge.evaluation.standing.look` finds in each,
some ten times as fast.

The sums over the model's days are done here for all series together, and a look at which nothing
can happen ends there. For the others the rules of `judge.evaluation.standing` decide themselves, by
a model made of these sums. `check` compares both ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr  # type: ignore[import-untyped]

from bench.shapes import SCALE
from judge.evaluation import directions, standing, steps, tally
from judge.evaluation.standing import DatedScore, Direction, Event, Look, State, look
from judge.evaluation.steps import CANDIDATES, SIZE, Estimate
from judge.evaluation.tally import WINDOW

FIRST = date(2026, 6, 1)  # a Monday
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_RECENT = 7
_STEPS = np.array([[i >= WINDOW - k for k in range(WINDOW + 1)] for i in range(WINDOW)], float)
"""By day of the window, whether it is one of the last k: the design of a step k days ago."""


class Series(NamedTuple):
    """Scores of several runs.

    Attributes:
        scores: By run, day and reply; -1 where there is none.
        channels, threads: Those of each reply. Threads are within a day; -1 without one.
    """

    scores: Ints
    channels: Ints
    threads: Ints

    def of_run(self, run: int, first: int, last: int) -> list[DatedScore]:
        """The scores of one run from the first day up to the last, which is not included."""
        return [
            DatedScore(
                int(score),
                on(day),
                int(self.channels[reply]),
                (day, int(self.threads[reply])) if self.threads[reply] >= 0 else None,
            )
            for day in range(max(first, 0), last)
            for reply, score in enumerate(self.scores[run, day])
            if score >= 0
        ]


def on(day: int) -> date:
    return FIRST + timedelta(days=day)


class _Sums(NamedTuple):
    """By run, channel and day: of the scores, and of the threads' sums and lengths."""

    n: Floats
    total: Floats
    squares: Floats
    cubes: Floats
    of_threads: Floats
    with_lengths: Floats
    lengths: Floats

    def window(self, day: int, origins: Sequence[date | None]) -> "_Sums":
        """The window before that day, without what is before the origin of each run."""
        first = max(day - WINDOW, 0)
        cut = [
            np.concatenate(
                [np.zeros((*part.shape[:2], WINDOW - (day - first))), part[..., first:day]], axis=2
            )
            for part in self
        ]
        for run, origin in enumerate(origins):
            if origin:
                age = (on(day) - origin).days
                for part in cut:
                    part[run, :, : max(WINDOW - age, 0)] = 0
        return _Sums(*cut)

    def take(self, runs: Sequence[int]) -> "_Sums":
        return _Sums(*(part[list(runs)] for part in self))


def _sums(series: Series) -> _Sums:
    scores = series.scores
    is_there = (scores >= 0).astype(float)
    values = np.where(scores >= 0, scores, 0).astype(float)
    channels = np.eye(series.channels.max() + 1)[series.channels]
    # A reply without a thread is one of its own.
    alone = series.threads.max() + 1 + np.arange(len(series.threads))
    ids = np.where(series.threads >= 0, series.threads, alone)
    _, ids = np.unique(ids, return_inverse=True)
    members = np.eye(ids.max() + 1)[ids]
    channel_of = np.zeros((members.shape[1], channels.shape[1]))
    channel_of[ids] = channels
    sums = values @ members
    lengths = is_there @ members
    by_reply = [is_there, values, values**2, values**3]
    by_thread = [sums**2, sums * lengths, lengths**2]
    parts = [part @ channels for part in by_reply] + [part @ channel_of for part in by_thread]
    return _Sums(*(part.transpose(0, 2, 1) for part in parts))


class _Days(NamedTuple):
    """What the scores of each run tell about the levels of the window's days."""

    information: Floats  # by run: a matrix
    pull: Floats  # by run: a vector
    skew: Floats  # by run


def _days(sums: _Sums, ages: Sequence[Sequence[int]]) -> _Days:
    """As `tally.tally` and `steps.to_model` find it; `ages` are those of each run's known steps."""
    n = sums.n.sum((1, 2))
    parts = np.zeros((len(ages), WINDOW), int)
    for run, known in enumerate(ages):
        for age in known:
            parts[run, WINDOW - age :] += 1
    squares = np.zeros(len(ages))
    cubes = np.zeros(len(ages))
    recent_squares = np.zeros(len(ages))
    recent_sums = np.zeros(len(ages))
    of_threads = np.zeros(len(ages))
    levels = np.zeros(len(ages))
    for number in range(parts.max() + 1):
        part = (parts == number)[:, None, :]
        in_part = (sums.n * part).sum(2)
        mean = ((sums.total * part).sum(2) / np.maximum(in_part, 1))[:, :, None]
        rests = (sums.squares - 2 * mean * sums.total + mean**2 * sums.n) * part
        squares += rests.sum((1, 2))
        third = sums.cubes - 3 * mean * sums.squares + 3 * mean**2 * sums.total - mean**3 * sums.n
        cubes += (third * part).sum((1, 2))
        recent_squares += rests[:, :, -_RECENT:].sum((1, 2))
        recent_sums += ((sums.total - mean * sums.n) * part)[:, :, -_RECENT:].sum((1, 2))
        by_thread = sums.of_threads - 2 * mean * sums.with_lengths + mean**2 * sums.lengths
        of_threads += (by_thread * part).sum((1, 2))
        levels += (in_part > 0).sum(1)
    middle = sums.total.sum((1, 2)) / n
    farthest = np.where(middle > 2.5, -middle, 5 - middle)
    rare = tally.RARE * farthest**2
    spread = np.maximum((squares + rare) / n, tally.LEAST_VARIANCE)
    skew = (cubes + rare * farthest) / n / spread**1.5
    variance = (squares + rare) / (np.maximum(n - levels, 1) + tally.RARE)
    n_recent = np.maximum(sums.n[:, :, -_RECENT:].sum((1, 2)), 1)
    shift = recent_sums / n_recent
    expected = variance + np.maximum((cubes + rare * farthest) / (squares + rare) * shift, 0)
    wider = recent_squares / n_recent - shift**2 - expected
    variance += np.maximum(wider, 0) * tally.RECENT_COUNTS
    skew /= np.sqrt(variance)
    length = sums.lengths.sum((1, 2)) / n
    inflation = (of_threads + length**2 * rare) / (squares + length * rare)
    inflation = np.maximum(inflation, 1)
    variance = np.maximum(variance * inflation, tally.LEAST_VARIANCE)
    of_channels = np.maximum(sums.n.sum(2), 1)
    shares = sums.n / np.sqrt(of_channels)[:, :, None]
    information = -np.einsum("rci,rcj->rij", shares, shares)
    days = np.arange(WINDOW)
    information[:, days, days] += sums.n.sum(1)
    level = (sums.total.sum(2) / of_channels)[:, :, None]
    pull = (sums.total - sums.n * level).sum(1)
    return _Days(information / variance[:, None, None], pull / variance[:, None], skew)


class _Ways(NamedTuple):
    """By run and way: the weight of the way, and by age of a step the information and pull on it."""

    weights: Floats
    information: Floats
    pull: Floats


def _ways(days: _Days, columns: Sequence[int]) -> _Ways:
    lags = np.abs(np.subtract.outer(np.arange(WINDOW), np.arange(WINDOW)))
    weekdays = steps.WEEKDAY**2 * (lags % 7 == 0)
    priors = np.array(
        [way.deviation**2 * float(way.resembles) ** lags + weekdays for way in steps.WAYS]
    )
    precision = np.linalg.inv(priors)[None] + days.information[:, None]
    designs = _STEPS[:, columns]
    columns_of = days.information @ designs
    right = np.concatenate([columns_of, days.pull[:, :, None]], axis=2)[:, None]
    solved = np.linalg.solve(
        precision, np.broadcast_to(right, (*precision.shape[:2], *right.shape[2:]))
    )
    turned = columns_of.transpose(0, 2, 1)[:, None]
    information = (designs.T @ columns_of)[:, None] - turned @ solved[..., :-1]
    pull = (days.pull @ designs)[:, None] - (turned @ solved[..., -1:])[..., 0]
    fits = (
        np.log([way.weight for way in steps.WAYS])
        + (days.pull[:, None] * solved[..., -1]).sum(2) / 2
        - np.linalg.slogdet(precision)[1] / 2
        - np.linalg.slogdet(priors)[1] / 2
    )
    weights = np.exp(fits - fits.max(1, keepdims=True))
    return _Ways(weights / weights.sum(1, keepdims=True), information, pull)


@dataclass(frozen=True)
class _Model:
    """The model of one run, as the rules of `standing` use it."""

    columns: Sequence[int]
    weights: Floats
    steps: Floats  # by way: the information on steps of the ages in `columns`
    pull: Floats
    information: Floats  # on the days' levels
    skew: float
    designs: Sequence[Sequence[float]] = ()

    @property
    def evidence(self) -> float:
        return float(self.weights.sum())

    def having(self, design: Sequence[float]) -> "_Model":
        more = replace(self, designs=[*self.designs, design])
        precision, pull = more._effects()
        covariance = np.linalg.inv(precision)
        alone = 1 / covariance[:, -1, -1]
        effects = (covariance[:, -1] * pull).sum(1) * np.sqrt(alone)
        of_scores = float(np.array(design) @ self.information @ np.array(design))
        tamed = [
            steps.tamed(float(effect), float(one), of_scores, SIZE, self.skew)
            for effect, one in zip(effects, alone, strict=True)
        ]
        surprise = np.minimum(effects**2 * np.array(tamed) / 2, 600)
        ratio = np.exp(surprise) / SIZE / np.sqrt(alone)
        return replace(more, weights=self.weights / self.evidence * ratio)

    def estimate(self, *shares: float) -> Estimate:
        precision, pull = self._effects()
        covariance = np.linalg.inv(precision)
        means = (covariance @ pull[..., None])[..., 0] @ np.array(shares)
        variances = np.einsum("i,wij,j->w", shares, covariance, shares)
        weights = self.weights / self.evidence
        return Estimate(
            [
                (float(weight), float(mean), sqrt(variance))
                for weight, mean, variance in zip(weights, means, variances, strict=True)
            ]
        )

    def _effects(self) -> tuple[Floats, Floats]:
        at = [self.columns.index(int(sum(design))) for design in self.designs]
        precision = self.steps[:, at][:, :, at] + np.eye(len(at)) * SIZE**-2
        return precision, self.pull[:, at]


class Found(NamedTuple):
    """What a look at a run has found."""

    run: int
    day: int
    event: Event | None
    state: State
    size: Estimate | None


def follow(series: Series, first: int, last: int, is_for_blame: bool = False) -> list[Found]:
    """The events of a look a day, from the first day to the last.

    With `is_for_blame` also the looks of the three days after the beginning of a direction.
    """
    sums = _sums(series)
    states = [State()] * len(series.scores)
    told_on = [first - WINDOW] * len(states)
    found = list[Found]()
    for day in range(first, last + 1):
        window = sums.window(day, [state.origin for state in states])
        is_enough = window.n[..., :-_RECENT].sum((1, 2)) >= standing.MIN_BEFORE
        runs = [run for run in range(len(states)) if is_enough[run]]
        for run in set(range(len(states))) - set(runs):
            states[run] = State(origin=states[run].origin)
        if not runs:
            continue
        known = [_known(states[run], window.n[run], day) for run in runs]
        for run, what in zip(
            runs,
            _look_at(window.take(runs), [states[run] for run in runs], known, day),
            strict=True,
        ):
            states[run] = what.state
            if what.event in {Event.BEGAN, Event.FURTHER}:
                told_on[run] = day
            is_recent = is_for_blame and day - told_on[run] <= 3
            if what.event or (is_recent and what.size):
                found.append(Found(run, day, what.event, what.state, what.size))
    return found


def _known(state: State, counts: Floats, day: int) -> list[date]:
    first = on(day - WINDOW + int(np.nonzero(counts.sum(0))[0][0]))
    return sorted(each for each in (*state.ended, state.since) if each and each > first)


def _look_at(
    sums: _Sums, states: Sequence[State], known: Sequence[list[date]], day: int
) -> list[directions.Finding]:
    today = on(day)
    ages = [[(today - each).days for each in days] for days in known]
    columns = sorted({*range(1, CANDIDATES + 1), *(age for some in ages for age in some)})
    of_days = _days(sums, ages)
    ways = _ways(of_days, columns)
    quiet = _quiet(ways, columns, ages, of_days)
    found = []
    for run, state in enumerate(states):
        days = known[run]
        steady = replace(state, direction=Direction.STEADY, ended=tuple(days))
        if state.since is None and quiet[run] < directions.BEGINS:
            found.append(directions.Finding(steady))
            continue
        model: Any = _Model(
            columns,
            ways.weights[run],
            ways.information[run],
            ways.pull[run],
            of_days.information[run],
            float(of_days.skew[run]),
        )
        for each in days:
            model = model.having(steps.step(each, today))
        found.append(directions.find(model, state, days, today, SCALE))
    return found


def _quiet(
    ways: _Ways, columns: Sequence[int], ages: Sequence[Sequence[int]], days: _Days
) -> Floats:
    """By run the evidence of the clearer direction, beside the known steps."""
    at = [columns.index(age) for age in range(1, CANDIDATES + 1)]
    information = np.einsum("rwmm->rwm", ways.information)[:, :, at] + SIZE**-2
    pull = ways.pull[:, :, at]
    weights = ways.weights
    most = max(map(len, ages))
    if most:
        # Runs with fewer known steps get some of which nothing is known.
        none = len(columns)
        known = np.full((len(ages), most), none)
        for run, some in enumerate(ages):
            known[run, : len(some)] = [columns.index(age) for age in some]
        runs = np.arange(len(ages))[:, None, None]
        padded = np.pad(ways.information, ((0, 0), (0, 0), (0, 1), (0, 1))).transpose(0, 2, 3, 1)
        among = padded[runs, known[:, :, None], known[:, None, :]].transpose(0, 3, 1, 2)
        among = among + np.eye(most) * SIZE**-2
        beside = padded[runs, known[:, :, None], np.array(at)[None, None, :]].transpose(0, 3, 1, 2)
        padded_pull = np.pad(ways.pull, ((0, 0), (0, 0), (0, 1))).transpose(0, 2, 1)
        of_known = padded_pull[runs[:, :, 0], known].transpose(0, 2, 1)[..., None]
        means = np.linalg.solve(among, of_known)
        gain = (of_known * means).sum((2, 3)) - np.linalg.slogdet(among)[1]
        fits = np.log(weights + 1e-300) + gain / 2
        weights = np.exp(fits - fits.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        information = information - (beside * np.linalg.solve(among, beside)).sum(2)
        pull = pull - (beside * means).sum(2)
    effects = pull / np.sqrt(information)
    designs = _STEPS[:, 1 : CANDIDATES + 1]
    of_scores = (designs * (days.information @ designs)).sum(1)[:, None]
    of_scores = np.maximum(of_scores, 1e-12)
    seen = np.maximum(information - SIZE**-2, 1e-12)
    skewness = days.skew[:, None, None] / np.sqrt(of_scores) * (seen / of_scores) ** 1.5
    deviation = np.maximum(effects * np.sqrt(information / seen) * skewness / 2, 1e-6)
    tamed = 2 * (deviation - np.log1p(deviation)) / deviation**2
    tamed = np.where(deviation > 1e-6, tamed, 1.0)
    ratios = np.exp(np.minimum(effects**2 * tamed / 2, 600)) / SIZE / np.sqrt(information)
    up = ndtr(effects)
    evidence = weights[:, :, None] * ratios
    both = np.stack([(evidence * up).sum((1, 2)), (evidence * (1 - up)).sum((1, 2))])
    clearer: Floats = both.max(0)
    return clearer


def check(series: Series, first: int, last: int) -> None:
    """Compares with `look` itself: the same events, on the same days, of the same size."""
    found = follow(series, first, last)
    for run in range(len(series.scores)):
        state = State()
        events = list[Look]()
        for day in range(first, last + 1):
            seen = look(series.of_run(run, day - WINDOW, day), on(day), SCALE, state)
            state = seen.state
            if seen.event:
                events.append(seen)
        ours = [each for each in found if each.run == run]
        assert [each.event for each in events] == [each.event for each in ours]
        for one, other in zip(events, ours, strict=True):
            assert replace(one.state, step=0) == replace(other.state, step=0)
            assert abs(one.state.step - other.state.step) < 1e-6
