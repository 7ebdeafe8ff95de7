"""The rows of a judge by the spread of their ratings, beside a stronger model's scores, against people."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from statistics import fmean, stdev
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.estimate.student import t_quantile

MOST_SPREAD = 3
"""The last level has this spread and all above it."""

# With few rows, gains that happen to be equal would look certain.
_FEWEST = 10


@dataclass(frozen=True)
class Level:
    """The labelled rows whose ratings lie equally far apart.

    Attributes:
        spread: Highest minus lowest rating; None where the ratings make no score.
        rows: How many there are.
        share: Of all labelled rows.
        error: The judge's mean distance from people; None without a score.
        compared: Rows that have a score of both models, or of the stronger one alone where the judge has none.
        stronger_error: The stronger model's mean distance from people on these; None without any.
        gain: By how much the stronger model is nearer to people, on rows with both; None without any.
        low: Lower end of the gain's 95% interval (paired, Student's t); None with fewer than ten rows.
        high: Upper end.
        cost_usd: What the stronger model's verdicts cost on average; None where one is not known.
    """

    spread: int | None
    rows: int
    share: float
    error: float | None
    compared: int
    stronger_error: float | None
    gain: float | None
    low: float | None
    high: float | None
    cost_usd: float | None


@dataclass(frozen=True)
class Payoff:
    """What a file says of a judge and a stronger model; without one, `stronger` is None.

    Attributes:
        levels: By spread, 0 first; the one without a score last, where there is any.
        unlabelled: Rows of the judge that have no label, and are in no figure.
        single: Labelled rows with one rating, which has no spread.
        problems: One sentence for each value that could not be used, with its line number.
    """

    judge: str
    stronger: str | None
    levels: tuple[Level, ...]
    unlabelled: int
    single: int
    problems: tuple[str, ...]

    @property
    def pays_from(self) -> int | None:
        """The lowest spread at which the stronger model is nearer to people beyond chance; None at none."""
        return next((each.spread for each in self.levels if each.spread is not None and (each.low or 0) > 0), None)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain dicts, lists and numbers, ready for `json.dumps`."""
        return asdict(self) | {"pays_from": self.pays_from}


class Verdict(NamedTuple):
    """One judge's verdict on one response, as far as it matters here."""

    score: float | None
    spread: int | None
    ratings: int
    cost_usd: float | None


@dataclass
class Response:
    """What judges and people said of one response; labels by the judge whose row has them."""

    labels: dict[str, list[float]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def label(self) -> float | None:
        """The mean over the people; other judges' rows repeat the same labels."""
        given = next((labels for labels in self.labels.values() if labels), None)
        return fmean(given) if given else None


def to_payoff(responses: Sequence[Response], first: str, second: str | None, problems: Sequence[str]) -> Payoff:
    """The payoff of asking `second`, where `first` has several ratings and people gave a label.

    Raises:
        SetupError: There is no such response.
    """
    rows: dict[int | None, list[_Pair]] = {spread: [] for spread in range(MOST_SPREAD + 1)}
    unlabelled = single = 0
    for response in responses:
        verdict, label = response.verdicts.get(first), response.label
        if verdict is None:
            continue
        if label is None or verdict.ratings < 2:
            unlabelled += label is None
            single += label is not None
            continue
        spread = None if verdict.score is None else min(verdict.spread or 0, MOST_SPREAD)
        rows.setdefault(spread, []).append(_Pair(label, verdict, response.verdicts.get(second or "")))
    total = sum(map(len, rows.values()))
    if not total:
        raise SetupError(
            f"No row of {first} has a label and several ratings; judge the file with --samples 3, by one model."
        )
    levels = tuple(_level(spread, pairs, total) for spread, pairs in rows.items())
    return Payoff(first, second, levels, unlabelled, single, tuple(problems))


class _Pair(NamedTuple):
    label: float
    first: Verdict
    stronger: Verdict | None


def _level(spread: int | None, pairs: Sequence[_Pair], total: int) -> Level:
    compared = [pair for pair in pairs if pair.stronger and pair.stronger.score is not None]
    errors = [_error(pair.first, pair.label) for pair in pairs if spread is not None]
    stronger_errors = [_error(pair.stronger, pair.label) for pair in compared]
    gains = [
        _error(pair.first, pair.label) - error
        for pair, error in zip(compared, stronger_errors, strict=True)
        if spread is not None
    ]
    half = t_quantile(len(gains) - 1) * stdev(gains) / sqrt(len(gains)) if len(gains) >= _FEWEST else None
    gain = fmean(gains) if gains else None
    costs = [pair.stronger.cost_usd for pair in compared if pair.stronger and pair.stronger.cost_usd is not None]
    return Level(
        spread=spread,
        rows=len(pairs),
        share=len(pairs) / total,
        error=fmean(errors) if errors else None,
        compared=len(compared),
        stronger_error=fmean(stronger_errors) if stronger_errors else None,
        gain=gain,
        low=None if half is None or gain is None else gain - half,
        high=None if half is None or gain is None else gain + half,
        cost_usd=fmean(costs) if costs and len(costs) == len(compared) else None,
    )


def _error(verdict: Verdict | None, label: float) -> float:
    if verdict is None or verdict.score is None:
        raise ValueError("an error needs a score")
    return abs(verdict.score - label)
