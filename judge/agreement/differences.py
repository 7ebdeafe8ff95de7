"""Which of two judges is nearer to people: the difference of each figure, on the responses that both scored.

The error of a difference is far below that of its two figures where both judges see the same responses: intervals that
overlap may hide it.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from judge.agreement.jackknife import difference
from judge.agreement.measures import MEASURES, Estimate, estimate, top_best_by_chance
from judge.agreement.sample import Sample, to_paired_samples
from judge.agreement.scores import Scores

_COMPARED = tuple(measure for measure in MEASURES if measure is not top_best_by_chance)  # knows nothing of the judge


@dataclass(frozen=True)
class Difference:
    """Two judges against people, on the labelled responses that both scored.

    Attributes:
        judge, other: Their names.
        responses, prompts: How many both scored.
        values: Each measure's value for `judge` and for `other`.
        estimates: Each measure's value for `judge` less that for `other`.
    """

    judge: str
    other: str
    responses: int
    prompts: int
    values: dict[str, tuple[float, float]]
    estimates: dict[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dicts and numbers, ready for `json.dumps`; None where one is not defined."""
        measures = {}
        for name, each in self.estimates.items():
            judge, other = (None if value != value else value for value in self.values[name])
            measures[name] = {"judge": judge, "other": other, **each.to_dict()}
        return {
            "judge": self.judge,
            "other": self.other,
            "responses": self.responses,
            "prompts": self.prompts,
            "measures": measures,
        }


def find_differences(scores: Scores) -> list[Difference]:
    """One difference for every two judges that scored a labelled response in common."""
    pairs = ((judge, other, to_paired_samples(scores, judge, other)) for judge, other in combinations(scores.judges, 2))
    return [_compare(judge, other, *samples) for judge, other, samples in pairs if samples]


def _compare(judge: str, other: str, one: Sample, two: Sample) -> Difference:
    values, estimates = {}, {}
    for measure in _COMPARED:
        first, second = measure(one), measure(two)
        values[measure.__name__] = first.value, second.value
        estimates[measure.__name__] = estimate(difference(first, second))
    return Difference(judge, other, len(one.scores), one.n_prompts, values, estimates)
