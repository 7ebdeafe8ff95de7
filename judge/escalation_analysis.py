"""Whether asking a stronger model pays: a judge's rows by the spread of their ratings, against people's labels."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.escalation import counted, models_of, others
from judge.numbers import Numbers, Range, find_scale
from judge.ratings import Rating, Result, Unscored, UnscoredReason, combine
from judge.rows import Row, RowFile
from judge.rubric import Scale
from judge.stats import t_quantile

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
class Analysis:
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
        return asdict(self) | {"pays_from": self.pays_from}


class Verdict(NamedTuple):
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


def analyse(responses: Sequence[Response], first: str, second: str | None, problems: Sequence[str]) -> Analysis:
    """The analysis of asking `second`, where `first` has several ratings and people gave a label."""
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
    return Analysis(first, second, levels, unlabelled, single, tuple(problems))


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


def measure(
    path: Path,
    label: str,
    *,
    judge: str | None = None,
    stronger: str | None = None,
    label_range: Range | None = None,
    rubric: str | Path | None = None,
) -> Analysis:
    """The analysis of a stronger model, from a file of JSONL as `judge batch` writes it.

    A row with `--escalate-to` holds both models' ratings; else both judged the same responses in rows of their own.
    Without names, the one that costs more is the stronger, and where that is not known the later one in the file.
    """
    file = RowFile(path)
    responses: dict[object, Response] = defaultdict(Response)
    reader: _Reader | None = None
    for row in file.rows():
        reader = reader or _Reader(find_scale(row, rubric), label, label_range, file.problems)
        reader.add(responses[row.known_by[1]], row)
    file.require(label=label)
    assert reader  # noqa: S101 - `require` refuses a file without rows
    reader.numbers.check()
    first, second = _choose(responses.values(), judge, stronger)
    return analyse(list(responses.values()), first, second, file.problems)


class _Reader:
    def __init__(self, scale: Scale, label: str, label_range: Range | None, problems: list[str]) -> None:
        self.numbers = Numbers(scale, label_range, problems)
        self._scale = scale
        self._label = label

    def add(self, response: Response, row: Row) -> None:
        score, model = self.numbers.score(row.line, row.get("score")), str(row.get("model") or "unnamed")
        response.labels.setdefault(model, []).extend(self.numbers.labels(row.line, row.get(self._label)))
        ratings, escalation = self._ratings(row), row.get("escalation")
        if not isinstance(escalation, str):
            response.verdicts.setdefault(model, Verdict(score, _spread(ratings), len(ratings), _cost(row)))
            return
        own, aside = counted(ratings, model, escalation), others(ratings, model, escalation)
        for name in models_of(escalation):
            said = own if name == model else aside
            if said:
                cost = None if aside else _cost(row)  # the row's is of both
                response.verdicts.setdefault(name, Verdict(self._score(said), _spread(said), len(said), cost))

    def _ratings(self, row: Row) -> list[Result]:
        given = row.get("ratings")
        read = (
            [self._rating(row.line, each) for each in given if isinstance(each, dict)]
            if isinstance(given, list)
            else []
        )
        return [each for each in read if each]

    def _rating(self, line: int, fields: Mapping[str, Any]) -> Result | None:
        given, model = fields.get("score"), str(fields.get("model") or "")
        if given is None:
            return Unscored(reason=UnscoredReason.NO_SCORE, detail="", model=model)
        score = self.numbers.rating(line, given)
        return None if score is None else Rating(score=score, justification="", raw="", model=model)

    def _score(self, ratings: Sequence[Result]) -> int | None:
        return combine(ratings, model="", rubric="", rubric_version="", scale=self._scale).score


def _spread(ratings: Sequence[Result]) -> int | None:
    scores = [rating.score for rating in ratings if isinstance(rating, Rating)]
    return max(scores) - min(scores) if scores else None


def _cost(row: Row) -> float | None:
    cost = row.get("cost_usd")
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _choose(responses: Collection[Response], judge: str | None, stronger: str | None) -> tuple[str, str | None]:
    costs: dict[str, list[float | None]] = defaultdict(list)
    for response in responses:
        for model, verdict in response.verdicts.items():
            costs[model].append(verdict.cost_usd)
    if not costs:
        raise SetupError(
            "No row has a rating of the models that its escalation names; give the JSONL that "
            "`judge batch --escalate-to` writes."
        )
    if judge is not None and judge == stronger:
        raise SetupError(f"--judge and --to both name {judge}; name two models, or leave one of the two out.")
    for option, name in (("--judge", judge), ("--to", stronger)):
        if name is not None and name not in costs:
            raise SetupError(f"{option} {name}: no row has this model; there are {', '.join(costs)}.")
    if len(costs) > 2 and not (judge and stronger):
        raise SetupError(f"The file has several judges ({', '.join(costs)}); name two of them, with --judge and --to.")
    left = [name for name in costs if name not in (judge, stronger)]
    if not (judge or left):
        raise SetupError(f"--to {stronger}: the file has no other judge.")
    means = {name: fmean(known) for name in left if (known := [cost for cost in costs[name] if cost is not None])}
    if len(means) == len(left):
        left.sort(key=lambda name: means[name])
    first = judge or left.pop(0)
    return first, stronger or next(iter(left), None)
