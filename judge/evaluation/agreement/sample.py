"""Scores and labels as arrays, for the measures."""

from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np
import numpy.typing as npt

from judge.evaluation.agreement.scores import Scores
from judge.scoring.rubric import Scale

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_GROUPS = 200
"""Above this number, prompts are left out in groups: 200 groups estimate the standard error to about 5%."""


@dataclass(frozen=True)
class Sample:
    """Scores and labels of the same responses, at least one."""

    prompts: Ints  # shape (n,): the number of each response's prompt, counted from 0
    scores: Floats  # shape (n,): the judge's scores on `scale`, whole or not
    label: Floats  # shape (n,): the mean label of each response, on `scale`
    scale: Scale

    @cached_property
    def levels(self) -> tuple[Ints, Ints]:
        """The mean label and the score as steps of the scale, counted from 0, halves rounded up;
        both of shape (n,).
        """
        people, judge = (
            np.floor(values + (0.5 + 1e-9) - self.scale.low).astype(np.int64)
            for values in (self.label, self.scores)
        )
        return people, judge

    @cached_property
    def n_prompts(self) -> int:
        return int(self.prompts.max()) + 1

    @cached_property
    def group_of(self) -> Ints:
        """The jackknife group of each prompt, shape (prompts,): its own, or with many prompts a
        random one of 200.

        Source: Kott (2001), The delete-a-group jackknife, J. Official Statistics 17(4).
        """
        if self.n_prompts <= MOST_GROUPS:
            return np.arange(self.n_prompts)
        return np.random.default_rng(0).permutation(self.n_prompts) % MOST_GROUPS

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """The pairs of responses to one prompt with different labels: the prompt of each, and 1 if
        the judge orders it as people do, -1 if the other way round, 0 if it scores both equally.
        """
        prompts: list[Ints] = []
        orders: list[Ints] = []
        by_prompt = np.argsort(self.prompts, kind="stable")
        # Responses that are so far apart in that order, as far as they are of one prompt.
        for gap in range(1, int(np.bincount(self.prompts).max())):
            first = by_prompt[:-gap]
            second = by_prompt[gap:]
            people = np.sign(self.label[first] - self.label[second])
            judge = np.sign(self.scores[first] - self.scores[second])
            is_pair = (self.prompts[first] == self.prompts[second]) & (people != 0)
            prompts.append(self.prompts[first][is_pair])
            orders.append((people * judge)[is_pair].astype(int))
        none = np.zeros(0, dtype=int)
        return np.concatenate([none, *prompts]), np.concatenate([none, *orders])


def to_sample(scores: Scores, judge: str) -> Sample | None:
    """The responses with a score by `judge` and a label; None if there are none."""
    rows: list[tuple[str, float, float]] = []
    for response in scores.responses:
        score = response.scores.get(judge)
        if score is not None and response.labels:
            rows.append((response.prompt, score, round(fmean(response.labels), 9)))
    if not rows:
        return None
    prompts, judged, labels = zip(*rows, strict=True)
    return Sample(
        prompts=np.unique(prompts, return_inverse=True)[1],
        scores=np.array(judged, dtype=float),
        label=np.array(labels, dtype=float),
        scale=scores.scale,
    )
