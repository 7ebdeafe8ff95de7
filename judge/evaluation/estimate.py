"""Estimates means from a file of scores, some of which have people's labels."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from judge.errors import SetupError
from judge.evaluation import stats
from judge.evaluation.labelled import LabelledRows, Range, find_scale, to_probability
from judge.evaluation.planning import MORE_LABELS, within
from judge.evaluation.severity import NOBODYS, Given, Severities
from judge.evaluation.stats import Interval, MeanEstimate, MeanEstimator
from judge.rows.files import shown
from judge.rows.row_file import Row, RowFile
from judge.scoring.rubric import Scale


def why_rough(mean: MeanEstimate) -> Iterator[str]:
    """Warnings if the labels are too few, or weigh too unequally, for reliable 95% intervals."""
    if not mean.missing:
        return
    missing = f"{mean.missing} more are needed"
    if mean.effective < mean.labelled:
        told = f"{mean.effective:.1f}"
        yield (
            f"The {mean.labelled:,} labels weigh unequally or share clusters, so they tell as "
            f"much as {told}."
        )
        missing = f"at least {mean.missing} more are needed"
    yield (
        f"With fewer than {stats.MIN_LABELS} labels the range is rough: if most labels are the "
        f"same, it may hold 80% instead of 95%; {missing}."
    )


def how_near(within: float | None, labelled: int, scale: Scale) -> Iterator[str]:
    """A sentence on how far people are from a single score; none if that is unknown or at least
    half the scale.
    """
    if within is not None and within < (scale.high - scale.low) / 2:
        points = "1 point" if within == 1 else f"{within:g} points"
        yield (
            f"In 9 of 10 cases a person's label is within {points} of the judge's score "
            f"({labelled:,} labels)."
        )


_MOST_NAMED = 5


@dataclass(frozen=True)
class Fields:
    """The fields to read.

    Without a named probability, the share labelled in a `stratum` replaces it.
    """

    label: str  # people's label: a number, or a list of numbers, whose mean counts
    score: str = "score"
    probability: str | None = (
        None  # that the row was drawn for a label; None: `probability` if the rows have it
    )
    cluster: str | None = None  # that dependent rows share; None: `thread` if the rows have it
    label_range: Range | None = (
        None  # the labels' lowest and highest value, if that is not the rubric's scale
    )
    judge: str | None = None  # whose scores to read, if the file has several models
    takes_other_judge: bool = False  # a model that answered under several names is one judge


@dataclass
class OneScore:
    """A score, the labels that correct it, and what weighs them: see `MeanEstimator.add`.

    Scores of a `stratum` have the same chance of a label; without one, `probability` is that
    chance.
    """

    score: float
    labels: Given
    probability: float
    cluster: str | None
    stratum: str | None
    length: int | None = None


class Estimator:
    """Takes scores one by one, and estimates their mean and the share of good ones as people would
    score.
    """

    def __init__(self, scale: Scale) -> None:
        self.misses = Counter[
            tuple[float, float]
        ]()  # labels by how far they are from the score, and their probability
        # The distributions, each without and with a label.
        self.like = {name: (Counter[float](), Counter[float]()) for name in ("score", "length")}
        self.good_from = stats.good_from(scale)
        self.severities = NOBODYS  # of those who gave the labels, once all scores are known
        self._mean, self._good = MeanEstimator(scale), MeanEstimator(Scale(0, 1))
        self._labelled: list[OneScore] = []
        self._unlabelled = Counter[str | None]()

    def add(self, each: OneScore) -> None:
        if each.labels:
            self._labelled.append(each)  # weighs as much as its stratum, once all scores are known
        else:
            self._unlabelled[each.stratum] += 1
            self._count(each)

    def estimate(self) -> tuple[MeanEstimate, MeanEstimate] | None:
        """The mean and the share of good scores; None without a score. It ends the estimator."""
        self.severities = self._mean.severities = Severities(each.labels for each in self._labelled)
        self._good.severities = Severities(
            map(self._are_good, (each.labels for each in self._labelled))
        )
        with_label = ((each.stratum, True, 1.0) for each in self._labelled)
        shares = stats.labelled_shares(
            [*with_label, *((each, False, n) for each, n in self._unlabelled.items())]
        )
        for each in self._labelled:
            self._count(
                each if each.stratum is None else replace(each, probability=shares[each.stratum])
            )
        mean, good = self._mean.estimate(), self._good.estimate()
        return (mean, good) if mean and good else None

    def _count(self, each: OneScore) -> None:
        score, given, probability, cluster = each.score, each.labels, each.probability, each.cluster
        self._mean.add(score, given=given, probability=probability, cluster=cluster)
        is_good, are = float(score >= self.good_from), self._are_good(given)
        self._good.add(is_good, given=are, probability=probability, cluster=cluster)
        for name, value in (("score", score), ("length", each.length)):
            if value is not None:
                self.like[name][bool(given)][value] += 1
        if given:
            self.misses[
                round(abs(fmean(label for _, label in given) - score), 9), each.probability
            ] += 1

    def _are_good(self, given: Given) -> Given:
        return [(by, float(label >= self.good_from)) for by, label in given]


class FileEstimate:
    """Estimates for all responses of a file of scores; labelled rows of a case wait for further
    labels of it.

    Attributes:
        mean, good: The estimate, and that of the share of responses with at least `good_from`.
        severities: Of the people who gave the labels, which both are corrected for.
        plus_minus: How far a person's label is from a score in 9 of 10 cases; None below nine
            labels.
        unscored, unscored_labelled: Rows without a score, in no figure, and those of them with a
        label.
        not_blind: Labels given after the score was seen, in no figure.
        unlike: In which of `score` and `length` the labelled rows differ, with the p of the test.
        shares_prompts: Rows share a `prompt_id`, and are treated as independent.
        problems: A sentence for each value that could not be used.
    """

    mean: MeanEstimate
    good: MeanEstimate
    severities: Severities
    plus_minus: float | None
    unlike: Mapping[str, float]

    def __init__(self, fields: Fields, scale: Scale, problems: list[str]) -> None:
        self.scale, self.good_from, self.problems = scale, stats.good_from(scale), problems
        self.unscored = self.unscored_labelled = self.not_blind = 0
        self.shares_prompts = False
        self._fields = fields
        self._labelled = LabelledRows(problems, fields.label, fields.label_range, (fields.score,))
        self._estimator = Estimator(scale)
        self._cases: dict[str, OneScore] = {}
        self._judges: dict[str, None] = {}
        self._prompts: set[str] = set()
        self._has_probability: bool | None = None

    def add(self, row: Row) -> None:
        read = self._labelled.read(row, self.scale)
        if (score := read.score) is None:
            self.unscored += 1
            self.unscored_labelled += bool(read.given)
            return
        judge = (row.judge, row.get("rubric"), row.get("rubric_version"))
        self._judges[" ".join(str(part) for part in judge if part) or "unnamed"] = None
        case, cluster, prompt = (
            row.key("case"),
            row.key(self._fields.cluster or "thread"),
            row.key("prompt_id"),
        )
        if prompt is not None:
            self.shares_prompts |= case is cluster is None and prompt in self._prompts
            self._prompts.add(prompt)
        used = read.given if read.is_blind else ()
        self.not_blind += len(read.given) - len(used)
        length = None
        with suppress(ValueError):  # the file has no texts
            # In quarters of a doubling, so that there are few different values.
            length = int(len(row.response) ** 4).bit_length()
        stratum = None if self._fields.probability else row.key("stratum")
        one = OneScore(
            score, used, self._probability(row) if used else 1.0, cluster, stratum, length
        )
        if case is None or not read.given:
            self._estimator.add(one)
            return
        known = self._cases.setdefault(case, one)
        if score != known.score:
            self.problems.append(
                f"line {row.line}: score {score:g} is not the {known.score:g} above of its case"
            )
        if used and known is not one:
            known.labels = [*known.labels, *one.labels]
            known.probability = one.probability

    def _probability(self, row: Row) -> float:
        """The probability with which the row was drawn for a label; all labelled rows must have
        one, or none.
        """
        name = self._fields.probability or "probability"
        value = row.get(name)
        if self._has_probability is None:
            self._has_probability = self._fields.probability is not None or value is not None
        if not self._has_probability and value is None:
            return 1.0
        probability = to_probability(value)
        if not self._has_probability or probability is None:
            raise SetupError(
                f"line {row.line}: {name} is {shown(value)}; give the probability with which this "
                "row was drawn for labelling, from 1e-9 to 1, on each row with a label or on "
                "none."
            )
        return probability

    def finish(self) -> None:
        """Computes the figures from all rows. Raises SetupError if there are none."""
        self._labelled.check(takes_other_judge=self._fields.takes_other_judge)
        if len(self._judges) > 1:
            more = " and more" if len(self._judges) > _MOST_NAMED else ""
            raise SetupError(
                "The file holds scores of several judges "
                f"({', '.join(list(self._judges)[:_MOST_NAMED])}{more}), whose figures are not to "
                "be joined; name the model with --judge, or split the file."
            )
        for each in self._cases.values():
            self._estimator.add(each)
        found, problems = self._estimator.estimate(), self.problems
        if found is None or not found[0].labelled:
            missing = "score" if found is None else "label" if not self.not_blind else "blind label"
            raise SetupError(
                f"No row has a {missing} that can be used{f' ({problems[0]})' if problems else ''}."
            )
        self.mean, self.good, self.severities = *found, self._estimator.severities
        misses = self._estimator.misses
        self.plus_minus = stats.error_quantile(misses)
        # Labelled rows that were drawn with unequal probabilities should differ from the others.
        is_even = len({probability for _, probability in misses}) == 1
        alike = {
            name: stats.kolmogorov_smirnov(*counts)
            for name, counts in self._estimator.like.items()
            if is_even
        }
        self.unlike = {
            name: p for name, p in alike.items() if p < 0.05
        }  # ties make it larger than needed

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain dicts, lists and numbers, ready for `json.dumps`; undefined figures
        are None.
        """
        names = (
            "plus_minus",
            "scale",
            "unscored",
            "unscored_labelled",
            "not_blind",
            "unlike",
            "problems",
        )
        return {
            **_figures(self.mean),
            **{name: getattr(self.mean, name) for name in ("n", "labelled", "effective")},
            "within_by_more_labels": {more: within(self.mean, more) for more in MORE_LABELS},
            "good": {"from": self.good_from, **_figures(self.good)},
            "severities": self.severities.of,
            **{name: getattr(self, name) for name in names},
        }


def estimate_file(path: Path, fields: Fields, rubric: str | Path | None = None) -> FileEstimate:
    """The estimate from a JSONL file.

    A label counts unless its row has `blind` as false. Rows of one `case` hold labels of several
    people. `rubric` sets the scale; it is needed if the rows name a rubric that does not come with
    the package.
    """
    file = RowFile(path)
    found: FileEstimate | None = None
    for row in file.rows():
        if fields.judge in (None, row.judge):
            found = found or FileEstimate(fields, find_scale(row, rubric), file.problems)
            found.add(row)
    file.require(
        label=fields.label,
        score=fields.score,
        probability=fields.probability,
        cluster=fields.cluster,
    )
    if found is None:
        raise SetupError(f"--judge {fields.judge}: no row has this model.")
    found.finish()
    return found


def _figures(mean: MeanEstimate) -> dict[str, Any]:
    return {
        **_ends(mean.corrected),
        **{f"judge_{name}": value for name, value in _ends(mean.judge).items()},
        "judge_weight": mean.weight,
        "labels_only": _ends(mean.labels_only),
    }


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return interval._asdict() if interval else dict.fromkeys(Interval._fields)
