"""Measures whether asking a stronger model pays: compares rows by the spread of their ratings with people's labels."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from judge.errors import SetupError
from judge.escalation import counted, models_of, others
from judge.numbers import Numbers, Range, find_scale, to_number
from judge.ratings import Rating, Result, Unscored, UnscoredReason, combine
from judge.rows import Row, RowFile
from judge.rubric import Scale
from judge.stats import t_quantile

MOST_SPREAD = 3
"""The last level contains this spread and all wider ones."""

# With few rows, gains that happen to be equal would look certain.
_FEWEST = 10


@dataclass(frozen=True)
class Level:
    """The labelled rows whose ratings have the same spread.

    Attributes:
        spread: Highest minus lowest rating; None if the ratings give no score.
        rows: The number of these rows.
        share: Their share of all labelled rows.
        error: The judge's mean distance from people; None without a score.
        compared: The number of rows with a score by both models, or by the stronger one alone if the judge has none.
        stronger_error: The stronger model's mean distance from people on these rows; None without any.
        gain: How much closer the stronger model is to people, on rows with both scores; None without any.
        low: Lower end of the gain's 95% interval (paired, Student's t); None with fewer than ten rows.
        high: Upper end.
        cost_usd: The mean cost of the stronger model's verdicts; None if one cost is unknown.
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
    """The comparison of a judge with a stronger model; `stronger` is None if the file has no other model.

    Attributes:
        levels: By spread, 0 first; the level without a score is last, if there is one.
        unlabelled: The number of the judge's rows without a label, which are in no figure.
        single: The number of labelled rows with one rating, which has no spread.
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
        """The lowest spread from which on the stronger model is significantly closer to people; None if there is none.

        The search goes down from the widest spread and stops at the first that is not significant, so that several
        tests find one by chance no more often than a single test. Spreads with too few rows are skipped. Source:
        Maurer, Hothorn, Lehmacher (1995), fixed-sequence testing.
        """
        tested = [each for each in reversed(self.levels) if each.spread is not None and each.low is not None]
        clear = list(takewhile(lambda each: (each.low or 0) > 0, tested))
        return clear[-1].spread if clear else None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"pays_from": self.pays_from}


class Verdict(NamedTuple):
    score: float | None
    spread: int | None
    ratings: int
    cost_usd: float | None


@dataclass
class Response:
    """What judges and people said about one response; labels by the judge whose row has them."""

    labels: dict[str, list[float]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def label(self) -> float | None:
        """The mean label, from one judge's rows only, because other judges' rows repeat the same labels."""
        given = next((labels for labels in self.labels.values() if labels), None)
        return fmean(given) if given else None


class _Compared(NamedTuple):
    """How far the judge and the stronger model are from people, and what the stronger one cost."""

    error: float | None
    stronger_error: float | None
    cost_usd: float | None


def measure(
    path: Path,
    label: str,
    *,
    judge: str | None = None,
    stronger: str | None = None,
    label_range: Range | None = None,
    rubric: str | Path | None = None,
) -> Analysis:
    """The analysis of a stronger model, from JSONL that `judge batch` wrote.

    A row written with `--escalate-to` holds both models' ratings. Otherwise each model judged the same responses in its
    own rows. Without names, the model that costs more is the stronger one, or the later one in the file if a cost is
    unknown.
    """
    file = RowFile(path)
    responses: dict[object, Response] = defaultdict(Response)
    numbers: Numbers | None = None
    for row in file.rows():
        if numbers is None:
            scale = find_scale(row, rubric)
            numbers = Numbers(scale, label_range, file.problems)
        _add(responses[row.known_by[1]], row, label, numbers, scale)
    file.require(label=label)
    assert numbers  # noqa: S101 - `require` refuses a file without rows
    numbers.check()
    first, second = _choose(responses.values(), judge, stronger)
    return _analyse(responses.values(), first, second, file.problems)


def _add(response: Response, row: Row, label: str, numbers: Numbers, scale: Scale) -> None:
    score, model = numbers.score(row.line, row.get("score")), str(row.get("model") or "unnamed")
    response.labels.setdefault(model, []).extend(numbers.labels(row.line, row.get(label)))
    given, escalation, cost = row.get("ratings"), row.get("escalation"), to_number(row.get("cost_usd"))
    ratings: list[Result] = []
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict):
            by = str(each.get("model") or "")
            rated = numbers.rating(row.line, each.get("score"))
            if rated is not None:
                ratings.append(Rating(score=rated, justification="", raw="", model=by))
            elif each.get("score") is None:
                ratings.append(Unscored(reason=UnscoredReason.NO_SCORE, detail="", model=by))
    if not isinstance(escalation, str):
        response.verdicts.setdefault(model, Verdict(score, _spread(ratings), len(ratings), cost))
        return
    own, aside = counted(ratings, model, escalation), others(ratings, model, escalation)
    for name in models_of(escalation):
        said = own if name == model else aside
        if said:
            of_model = combine(said, model="", rubric="", rubric_version="", scale=scale)
            # The row's cost is the sum for both models.
            response.verdicts.setdefault(
                name, Verdict(of_model.score, of_model.spread, len(said), None if aside else cost)
            )


def _spread(ratings: Sequence[Result]) -> int | None:
    scores = [rating.score for rating in ratings if isinstance(rating, Rating)]
    return max(scores) - min(scores) if scores else None


def _analyse(responses: Collection[Response], first: str, second: str | None, problems: Sequence[str]) -> Analysis:
    rows: dict[int | None, list[_Compared]] = {spread: [] for spread in range(MOST_SPREAD + 1)}
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
        error = None if verdict.score is None else abs(verdict.score - label)
        stronger = response.verdicts.get(second or "")
        compared = _Compared(error, None, None)
        if stronger and stronger.score is not None:
            compared = _Compared(error, abs(stronger.score - label), stronger.cost_usd)
        rows.setdefault(spread, []).append(compared)
    total = sum(map(len, rows.values()))
    if not total:
        raise SetupError(
            f"No row of {first} has a label and several ratings; judge the file with --samples 3, by one model."
        )
    levels = tuple(_level(spread, each, total) for spread, each in rows.items())
    return Analysis(first, second, levels, unlabelled, single, tuple(problems))


def _level(spread: int | None, rows: Sequence[_Compared], total: int) -> Level:
    errors = [row.error for row in rows if row.error is not None]
    stronger_errors = [row.stronger_error for row in rows if row.stronger_error is not None]
    gains = [row.error - row.stronger_error for row in rows if row.error is not None and row.stronger_error is not None]
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    gain = low = high = None
    if gains:
        gain = fmean(gains)
    if gain is not None and len(gains) >= _FEWEST:
        half = t_quantile(len(gains) - 1) * stdev(gains) / sqrt(len(gains))
        low, high = gain - half, gain + half
    return Level(
        spread=spread,
        rows=len(rows),
        share=len(rows) / total,
        error=fmean(errors) if errors else None,
        compared=len(stronger_errors),
        stronger_error=fmean(stronger_errors) if stronger_errors else None,
        gain=gain,
        low=low,
        high=high,
        cost_usd=fmean(costs) if costs and len(costs) == len(stronger_errors) else None,
    )


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
        raise SetupError(f"--judge and --escalate-to both name {judge}; name two models, or leave one of the two out.")
    for option, name in (("--judge", judge), ("--escalate-to", stronger)):
        if name is not None and name not in costs:
            raise SetupError(f"{option} {name}: no row has this model; there are {', '.join(costs)}.")
    if len(costs) > 2 and not (judge and stronger):
        raise SetupError(
            f"The file has several judges ({', '.join(costs)}); name two of them, with --judge and --escalate-to."
        )
    left = [name for name in costs if name not in (judge, stronger)]
    if not (judge or left):
        raise SetupError(f"--escalate-to {stronger}: the file has no other judge.")
    means = {name: fmean(known) for name in left if (known := [cost for cost in costs[name] if cost is not None])}
    if len(means) == len(left):
        left.sort(key=lambda name: means[name])
    first = judge or left.pop(0)
    return first, stronger or next(iter(left), None)
