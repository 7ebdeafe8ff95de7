"""A file of scores, some of them with people's labels, as one estimate; read line by line."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from judge.errors import SetupError
from judge.files import shown
from judge.numbers import Numbers, Range, find_scale, to_probability
from judge.rows import COMPLETION, Row, RowFile
from judge.rubric import Scale
from judge.stats import (
    MIN_LABELS,
    SURE,
    Interval,
    MeanEstimate,
    MeanEstimator,
    error_quantile,
    good_from,
    kolmogorov_smirnov,
)


@dataclass(frozen=True)
class Estimate:
    """What a file of scores says of all responses.

    Attributes:
        mean: The mean score.
        good: The share of responses with at least `good_from`.
        plus_minus: How far from a single score a person's label is in 9 of 10 cases; None with fewer than nine labels.
        unscored: Rows without a score, which are in no figure.
        not_blind: Labels that were given after the score was seen, and so are in no figure either.
        unlike: In what the labelled rows are unlike the others (`score`, `length`), with the p of a Kolmogorov-Smirnov
            test; empty too where they were not drawn with equal probabilities, and so are meant to be unlike.
        shares_prompts: Whether rows share a `prompt_id`: they are taken as independent, and may not be.
        problems: One sentence for each value that could not be used, with its line number.
    """

    scale: Scale
    good_from: int
    mean: MeanEstimate
    good: MeanEstimate
    plus_minus: float | None
    unscored: int
    not_blind: int
    unlike: Mapping[str, float]
    shares_prompts: bool
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain dicts, lists and numbers, ready for `json.dumps`; None where one is not defined."""
        return {
            **_figures(self.mean),
            "n": self.mean.n,
            "labelled": self.mean.labelled,
            "effective": self.mean.effective,
            "good": {"from": self.good_from, **_figures(self.good)},
            "plus_minus": self.plus_minus,
            "scale": list(self.scale),
            "unscored": self.unscored,
            "not_blind": self.not_blind,
            "unlike": dict(self.unlike),
            "problems": list(self.problems),
        }


def why_rough(mean: MeanEstimate) -> Iterator[str]:
    """What to know where the labels are too few, or weigh too unequally, for intervals that hold their 95%."""
    if not mean.missing:
        return
    missing = f"{mean.missing} more would do"
    if mean.effective < mean.labelled:
        told = f"{mean.effective:.1f}"
        yield f"The {mean.labelled:,} labels weigh unequally or share clusters, and tell as much as {told}."
        missing = f"it takes at least {mean.missing} more"
    yield (
        f"With fewer than {MIN_LABELS} labels the range is a rough one: where most of them are the same, it may hold "
        f"80% instead of 95%; {missing}."
    )


def _figures(mean: MeanEstimate) -> dict[str, Any]:
    return {
        **_ends(mean.corrected),
        "judge_mean": mean.judge.mean,
        "judge_low": mean.judge.low,
        "judge_high": mean.judge.high,
        "judge_weight": mean.weight,
        "labels_only": _ends(mean.labels_only),
    }


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return interval._asdict() if interval else dict.fromkeys(Interval._fields)


_MOST_NAMED = 5
_VERSION = ("rubric", "rubric_version")
_PROBABILITY, _CLUSTER = "probability", "thread"
_MOST_ALIKE = 10_000


@dataclass(frozen=True)
class Fields:
    """Which fields to read, and what is known of the labels beside.

    Attributes:
        label: People's label: a number, or a list of them, of which the mean counts.
        score: The judge's score.
        probability: With which the row was drawn to be labelled; None is `probability` where the rows have it, else all
            are equal.
        cluster: What rows share that are not independent; None is `thread` where the rows have it.
        label_range: The labels' lowest and highest value, where it is not the rubric's scale.
        judge: The model whose scores to read, where the file has those of several.
    """

    label: str
    score: str = "score"
    probability: str | None = None
    cluster: str | None = None
    label_range: Range | None = None
    judge: str | None = None


def estimate_file(path: Path, fields: Fields, rubric: str | Path | None = None) -> Estimate:
    """The estimate from a file of JSONL.

    A label counts unless the row says that it was not `blind`. Rows of one `case` are labels of several people.
    `rubric` gives the scale where the rows name no rubric that comes with the package.
    """
    file = RowFile(path)
    reader: _Reader | None = None
    for row in file.rows():
        if fields.judge is not None and row.judge != fields.judge:
            continue
        reader = reader or _Reader(fields, find_scale(row, rubric), file.problems)
        reader.add(row)
    file.require(label=fields.label, score=fields.score, weight=fields.probability, cluster=fields.cluster)
    if reader is None:
        raise SetupError(f"--judge {fields.judge}: no row has this model.")
    return reader.finish()


@dataclass
class _Labelled:
    score: float
    labels: list[float]
    probability: float
    cluster: str | None
    length: int | None


class _Reader:
    """Gathers rows; those with labels wait, since other rows may have more labels of the same case."""

    def __init__(self, fields: Fields, scale: Scale, problems: list[str]) -> None:
        self._fields = fields
        self._cluster = fields.cluster or _CLUSTER
        self._numbers = Numbers(scale, fields.label_range, problems)
        self._scale = scale
        self._good_from = good_from(scale)
        self._mean, self._good = MeanEstimator(scale), MeanEstimator(Scale(0, 1))
        self._misses = Counter[tuple[float, float]]()
        self._judges: list[list[object]] = []
        self._cases: dict[str, _Labelled] = {}
        self._likeness = _Likeness()
        self._alike = Counter[tuple[float, str | None, int | None]]()  # rows without a label that differ in nothing
        self._prompts: set[str] = set()
        self._shares_prompts = False
        self._unscored = self._not_blind = 0
        self._has_probability: bool | None = None

    def add(self, row: Row) -> None:
        score = self._numbers.score(row.line, row.get(self._fields.score))
        labels = list(self._numbers.labels(row.line, row.get(self._fields.label)))
        if score is None:
            self._unscored += 1
            return
        self._note_judge(row)
        self._note_prompt(row)
        cluster, length = row.key(self._cluster), _length(row)
        if not labels:
            self._alike[score, cluster, length] += 1
            if len(self._alike) > _MOST_ALIKE:
                self._take_alike()
            return
        if row.get("blind") is False:
            self._not_blind += len(labels)
            labels = []
        one = _Labelled(score, labels, self._probability(row) if labels else 1.0, cluster, length)
        case = row.key("case")
        if case is None:
            self._take(one)
            return
        known = self._cases.setdefault(case, one)
        if score != known.score:
            self._numbers.problems.append(
                f"line {row.line}: score {score:g} is not the {known.score:g} above of its case"
            )
        if labels and known is not one:
            known.labels.extend(labels)
            known.probability = one.probability

    def _note_judge(self, row: Row) -> None:
        judge = [row.judge, *(row.get(name) for name in _VERSION)]
        if judge not in self._judges and len(self._judges) <= _MOST_NAMED:
            self._judges.append(judge)

    def _note_prompt(self, row: Row) -> None:
        prompt = row.get("prompt_id")
        if self._shares_prompts or prompt is None or len(self._prompts) >= _MOST_ALIKE:
            return
        is_alone = row.get(self._cluster) is None and row.get("case") is None
        self._shares_prompts = is_alone and str(prompt) in self._prompts
        self._prompts.add(str(prompt))

    def _probability(self, row: Row) -> float:
        """With which the row was drawn to be labelled; all labelled rows have one, or none has."""
        name = self._fields.probability or _PROBABILITY
        value = row.get(name)
        if self._has_probability is None:
            self._has_probability = self._fields.probability is not None or value is not None
        if not self._has_probability and value is None:
            return 1.0
        probability = to_probability(value)
        if not self._has_probability or probability is None:
            raise SetupError(
                f"line {row.line}: {name} is {shown(value)}; there belongs the probability with which this row was "
                "drawn to be labelled, from 1e-9 to 1, on each row with a label or on none."
            )
        return probability

    def _take_alike(self) -> None:
        for (score, cluster, length), times in self._alike.items():
            self._take(_Labelled(score, [], 1.0, cluster, length), times)
        self._alike.clear()

    def _take(self, each: _Labelled, times: int = 1) -> None:
        score, label = each.score, fmean(each.labels) if each.labels else None
        is_good = None if label is None else float(label >= self._good_from)
        shared: Mapping[str, Any] = {"probability": each.probability, "cluster": each.cluster, "times": times}
        self._mean.add(score, label, **shared)
        self._good.add(float(score >= self._good_from), is_good, **shared)
        self._likeness.add(each, times)
        if label is not None:
            self._misses[round(abs(label - score), 9), each.probability] += 1

    def finish(self) -> Estimate:
        self._numbers.check()
        self._check_judges()
        self._take_alike()
        for each in self._cases.values():
            self._take(each)
        mean, good = self._mean.estimate(), self._good.estimate()
        if mean is None or good is None or not mean.labelled:
            missing = "score" if mean is None else "label" if not self._not_blind else "blind label"
            first = f" ({self._numbers.problems[0]})" if self._numbers.problems else ""
            raise SetupError(f"No row has a {missing} that can be used{first}.")
        return Estimate(
            scale=self._scale,
            good_from=self._good_from,
            mean=mean,
            good=good,
            plus_minus=error_quantile(self._misses),
            unscored=self._unscored,
            not_blind=self._not_blind,
            unlike=self._likeness.unlike(),
            shares_prompts=self._shares_prompts,
            problems=tuple(self._numbers.problems),
        )

    def _check_judges(self) -> None:
        if len(self._judges) > 1:
            names = [" ".join(str(part) for part in judge if part) or "unnamed" for judge in self._judges]
            more = " and more" if len(names) > _MOST_NAMED else ""
            raise SetupError(
                f"The file holds scores of several judges ({', '.join(names[:_MOST_NAMED])}{more}), whose figures are "
                "not to be joined; name the model with --judge, or split the file."
            )


class _Likeness:
    """The distributions of what the rows are like, with a label and without."""

    def __init__(self) -> None:
        self._counts = {name: (Counter[float](), Counter[float]()) for name in ("score", "length")}
        self._probabilities: set[float] = set()

    def add(self, each: _Labelled, times: int) -> None:
        for name, value in (("score", each.score), ("length", each.length)):
            if value is not None:
                self._counts[name][bool(each.labels)][value] += times
        if each.labels and len(self._probabilities) < 2:
            self._probabilities.add(each.probability)

    def unlike(self) -> Mapping[str, float]:
        if len(self._probabilities) > 1:
            return {}
        values = {name: kolmogorov_smirnov(*counts) for name, counts in self._counts.items()}
        return {name: p for name, p in values.items() if p < SURE}


def _length(row: Row) -> int | None:
    for name in COMPLETION:
        text = row.get(name)
        if isinstance(text, str):
            return int(len(text) ** 4).bit_length()
    return None
