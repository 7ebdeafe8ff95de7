"""Estimates means from a file of scores, some of which have people's labels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from judge.errors import SetupError
from judge.evaluation.stats import (
    MIN_LABELS,
    SURE,
    Interval,
    MeanEstimate,
    MeanEstimator,
    error_quantile,
    good_from,
    kolmogorov_smirnov,
    labelled_shares,
)
from judge.rows.files import shown
from judge.rows.numbers import Numbers, Range, find_scale, to_probability
from judge.rows.row_file import Row, RowFile
from judge.scoring.rubric import Scale


@dataclass(frozen=True)
class Estimate:
    """Estimates for all responses of a file of scores.

    Attributes:
        mean: The mean score.
        good: The share of responses with at least `good_from`.
        plus_minus: How far a person's label is from a single score in 9 of 10 cases; None with fewer than nine labels.
        unscored: The number of rows without a score, which are in no figure.
        not_blind: The number of labels given after the score was seen, which are in no figure either.
        unlike: The properties (`score`, `length`) in which the labelled rows differ from the others, with the p of a
            Kolmogorov-Smirnov test. Empty if rows were drawn with unequal probabilities, because then they should
            differ.
        shares_prompts: Whether rows share a `prompt_id`; they are treated as independent, but may not be.
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
        """The figures as plain dicts, lists and numbers, ready for `json.dumps`; undefined figures are None."""
        names = ("plus_minus", "scale", "unscored", "not_blind", "unlike", "problems")
        return {
            **_figures(self.mean),
            **{name: getattr(self.mean, name) for name in ("n", "labelled", "effective")},
            "good": {"from": self.good_from, **_figures(self.good)},
            **{name: getattr(self, name) for name in names},
        }


def why_rough(mean: MeanEstimate) -> Iterator[str]:
    """Warnings if the labels are too few, or weigh too unequally, for reliable 95% intervals."""
    if not mean.missing:
        return
    missing = f"{mean.missing} more are needed"
    if mean.effective < mean.labelled:
        told = f"{mean.effective:.1f}"
        yield f"The {mean.labelled:,} labels weigh unequally or share clusters, so they tell as much as {told}."
        missing = f"at least {mean.missing} more are needed"
    yield (
        f"With fewer than {MIN_LABELS} labels the range is rough: if most labels are the same, it may hold 80% instead "
        f"of 95%; {missing}."
    )


def how_near(within: float | None, labelled: int, scale: Scale) -> Iterator[str]:
    """A sentence on how far people are from a single score; none if that is unknown or at least half the scale."""
    if within is not None and within < (scale.high - scale.low) / 2:
        points = "1 point" if within == 1 else f"{within:g} points"
        yield f"In 9 of 10 cases a person's label is within {points} of the judge's score ({labelled:,} labels)."


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


@dataclass(frozen=True)
class Fields:
    """The fields to read, and how to read them.

    Attributes:
        label: People's label: a number, or a list of numbers, whose mean counts.
        score: The judge's score.
        probability: The probability with which the row was drawn for a label. None means `probability` if the rows have
            it; otherwise all are equal.
        cluster: The field that dependent rows share. None means `thread` if the rows have it. If rows have a `stratum`
            and no `probability` is named, the share labelled in the stratum replaces the probability.
        label_range: The labels' lowest and highest value, if that is not the rubric's scale.
        judge: The model whose scores to read, if the file has several models.
    """

    label: str
    score: str = "score"
    probability: str | None = None
    cluster: str | None = None
    label_range: Range | None = None
    judge: str | None = None


def estimate_file(
    path: Path, fields: Fields, rubric: str | Path | None = None, lines: Iterable[tuple[int, bytes]] | None = None
) -> Estimate:
    """The estimate from a JSONL file, or from numbered `lines` instead of the file.

    A label counts unless its row has `blind` as false. Rows of one `case` hold labels of several people. `rubric` sets
    the scale; it is needed if the rows name a rubric that does not come with the package.
    """
    file = RowFile(path)
    reader: _Reader | None = None
    for row in file.rows(lines):
        if fields.judge is None or row.judge == fields.judge:
            reader = reader or _Reader(fields, find_scale(row, rubric), file.problems)
            reader.add(row)
    file.require(label=fields.label, score=fields.score, probability=fields.probability, cluster=fields.cluster)
    if reader is None:
        raise SetupError(f"--judge {fields.judge}: no row has this model.")
    return reader.finish()


@dataclass
class _Scored:
    score: float
    labels: list[float]
    probability: float
    cluster: str | None
    stratum: str | None
    length: int | None


class _Reader:
    """Collects rows; labelled rows of a case wait, because other rows may have more labels for it."""

    def __init__(self, fields: Fields, scale: Scale, problems: list[str]) -> None:
        self._fields = fields
        self._cluster = fields.cluster or "thread"
        self._numbers = Numbers(scale, fields.label_range, problems)
        self._scale = scale
        self._good_from = good_from(scale)
        self._mean, self._good = MeanEstimator(scale), MeanEstimator(Scale(0, 1))
        self._misses = Counter[tuple[float, float]]()
        # The distributions in rows without and with a label.
        self._like = {name: (Counter[float](), Counter[float]()) for name in ("score", "length")}
        self._cases: dict[str, _Scored] = {}
        self._labelled: list[_Scored] = []
        self._unlabelled = Counter[str | None]()
        self._judges: dict[str, None] = {}
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
        judge = (row.judge, row.get("rubric"), row.get("rubric_version"))
        self._judges[" ".join(str(part) for part in judge if part) or "unnamed"] = None
        case, cluster, prompt = row.key("case"), row.key(self._cluster), row.key("prompt_id")
        if prompt is not None:
            self._shares_prompts |= case is cluster is None and prompt in self._prompts
            self._prompts.add(prompt)
        is_labelled = bool(labels)
        if row.get("blind") is False:
            self._not_blind += len(labels)
            labels = []
        stratum = None if self._fields.probability else row.key("stratum")
        length = None
        with suppress(ValueError):  # the file has no texts
            # In quarters of a doubling, so that there are few different values.
            length = int(len(row.response) ** 4).bit_length()
        one = _Scored(score, labels, self._probability(row) if labels else 1.0, cluster, stratum, length)
        if case is None or not is_labelled:
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

    def _probability(self, row: Row) -> float:
        """The probability with which the row was drawn for a label; all labelled rows must have one, or none."""
        name = self._fields.probability or "probability"
        value = row.get(name)
        if self._has_probability is None:
            self._has_probability = self._fields.probability is not None or value is not None
        if not self._has_probability and value is None:
            return 1.0
        probability = to_probability(value)
        if not self._has_probability or probability is None:
            raise SetupError(
                f"line {row.line}: {name} is {shown(value)}; give the probability with which this row "
                "was drawn for labelling, from 1e-9 to 1, on each row with a label or on none."
            )
        return probability

    def _take(self, each: _Scored) -> None:
        if each.labels:
            self._labelled.append(each)
        else:
            self._unlabelled[each.stratum] += 1
            self._count(each)

    def _count(self, each: _Scored) -> None:
        score, label = each.score, fmean(each.labels) if each.labels else None
        is_good = None if label is None else float(label >= self._good_from)
        self._mean.add(score, label, probability=each.probability, cluster=each.cluster)
        self._good.add(float(score >= self._good_from), is_good, probability=each.probability, cluster=each.cluster)
        for name, value in (("score", score), ("length", each.length)):
            if value is not None:
                self._like[name][label is not None][value] += 1
        if label is not None:
            self._misses[round(abs(label - score), 9), each.probability] += 1

    def finish(self) -> Estimate:
        self._numbers.check()
        if len(self._judges) > 1:
            more = " and more" if len(self._judges) > _MOST_NAMED else ""
            raise SetupError(
                f"The file holds scores of several judges ({', '.join(list(self._judges)[:_MOST_NAMED])}{more}), whose "
                "figures are not to be joined; name the model with --judge, or split the file."
            )
        for each in self._cases.values():
            self._take(each)
        with_label = ((each.stratum, True, 1.0) for each in self._labelled)
        chances = labelled_shares([*with_label, *((each, False, n) for each, n in self._unlabelled.items())])
        for each in self._labelled:
            self._count(each if each.stratum is None else replace(each, probability=chances[each.stratum]))
        mean, good = self._mean.estimate(), self._good.estimate()
        if mean is None or good is None or not mean.labelled:
            missing = "score" if mean is None else "label" if not self._not_blind else "blind label"
            first = f" ({self._numbers.problems[0]})" if self._numbers.problems else ""
            raise SetupError(f"No row has a {missing} that can be used{first}.")
        # Labelled rows that were drawn with unequal probabilities should differ from the others.
        is_even = len({probability for _, probability in self._misses}) == 1
        alike = {name: kolmogorov_smirnov(*counts) for name, counts in self._like.items() if is_even}
        return Estimate(
            scale=self._scale,
            good_from=self._good_from,
            mean=mean,
            good=good,
            plus_minus=error_quantile(self._misses),
            unscored=self._unscored,
            not_blind=self._not_blind,
            unlike={name: p for name, p in alike.items() if p < SURE},
            shares_prompts=self._shares_prompts,
            problems=tuple(self._numbers.problems),
        )
