"""Reads the verdicts of a judge, and of a stronger model, out of rows of JSONL."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from judge.agreement.scores import identify
from judge.errors import SetupError
from judge.escalation import counted, models_of, others
from judge.jsonl import no_object, read_objects
from judge.numbers import Numbers, Range, find_scale
from judge.payoff.levels import Payoff, Response, Verdict, to_payoff
from judge.ratings import Rating, Result, Unscored, UnscoredReason, combine
from judge.rubric import Scale


def measure(
    path: Path,
    label: str,
    *,
    judge: str | None = None,
    stronger: str | None = None,
    label_range: Range | None = None,
    rubric: str | Path | None = None,
) -> Payoff:
    """The payoff of a stronger model, from a file of JSONL as `judge batch` writes it.

    A row with `--escalate-to` holds both models' ratings; else both judged the same responses in rows of their own.
    Without names, the one that costs more is the stronger, and where that is not known the later one in the file.

    Raises:
        SetupError: No such file, label or judge; no labelled row with several ratings; more than 5% off the scale.
        RubricError: No such rubric.
    """
    problems: list[str] = []
    responses: dict[object, Response] = defaultdict(Response)
    names: dict[str, None] = {}
    reader: _Reader | None = None
    for line, row in read_objects(path, problems):
        names |= dict.fromkeys(row)
        reader = reader or _Reader(find_scale(row, rubric), label, label_range, problems)
        _, known_by = identify(line, row)
        reader.add(responses[known_by], line, row)
    if reader is None:
        raise no_object(problems)
    if label not in names:
        raise SetupError(f"--label {label}: no line has this field; the fields are {', '.join(names) or 'none'}.")
    reader.numbers.check()
    first, second = _choose(responses.values(), judge, stronger)
    return to_payoff(list(responses.values()), first, second, problems)


class _Reader:
    """Takes the verdicts out of rows."""

    def __init__(self, scale: Scale, label: str, label_range: Range | None, problems: list[str]) -> None:
        self.numbers = Numbers(scale, label_range, problems)
        self._scale = scale
        self._label = label

    def add(self, response: Response, line: int, row: Mapping[str, Any]) -> None:
        score, model = self.numbers.score(line, row.get("score")), str(row.get("model") or "unnamed")
        response.labels.setdefault(model, []).extend(self.numbers.labels(line, row.get(self._label)))
        ratings, escalation = self._ratings(line, row), row.get("escalation")
        if not isinstance(escalation, str):
            response.verdicts.setdefault(model, Verdict(score, _spread(ratings), len(ratings), _cost(row)))
            return
        own, aside = counted(ratings, model, escalation), others(ratings, model, escalation)
        for name in models_of(escalation):
            said = own if name == model else aside
            if said:
                cost = None if aside else _cost(row)  # the row's is of both
                response.verdicts.setdefault(name, Verdict(self._score(said), _spread(said), len(said), cost))

    def _ratings(self, line: int, row: Mapping[str, Any]) -> list[Result]:
        """The row's ratings, without those that cannot be used."""
        given = row.get("ratings")
        read = [self._rating(line, each) for each in given if isinstance(each, dict)] if isinstance(given, list) else []
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


def _cost(row: Mapping[str, Any]) -> float | None:
    cost = row.get("cost_usd")
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _choose(responses: Collection[Response], judge: str | None, stronger: str | None) -> tuple[str, str | None]:
    """The judge and the stronger model: as named, else by their costs, else in the order of the file."""
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
