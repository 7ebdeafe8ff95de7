"""What an estimate comes to, and as plain values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge.estimate.mean import MIN_LABELS, Interval, MeanEstimate
from judge.rubric import Scale


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
