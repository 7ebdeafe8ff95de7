"""How well the offline rater agrees with people: `python bench/offline_report.py quality.jsonl`.

Rows are `{"prompt_id", "question", "response", "human_quality"}`: several responses to a prompt,
quality from 0 to 1, as in OASST2. The rater's thresholds were chosen on the development half of the
prompts; the held-out half shows how good it is. In brackets are 95% intervals from 1,000 resamples
of the prompts.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau, spearmanr  # type: ignore[import-untyped]

from judge.evaluation.agreement.measures import quadratic_weighted_kappa
from judge.evaluation.agreement.sample import Sample
from judge.scoring.offline import rate_offline
from judge.scoring.rubric import Scale

SCALE = Scale(0, 5)
RESAMPLES = 1_000


class Prompt(NamedTuple):
    """The responses to one prompt: people's qualities and the rater's scores.

    `right`, `tied` and `wrong` count the pairs of different quality; without such pairs there are
    no correlations. If all scores are equal the correlations are 0, because the rater orders
    nothing.
    """

    qualities: list[float]
    scores: list[int]
    spearman: float | None
    kendall: float | None
    right: int
    tied: int
    wrong: int


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the offline rater with people.")
    parser.add_argument(
        "path", type=Path, help="a JSONL file with prompt_id, question, response and human_quality"
    )
    rows = [
        json.loads(line)
        for line in parser.parse_args().path.read_text(encoding="utf-8").splitlines()
    ]
    began = time.process_time()
    scores = [rate_offline(row["question"], row["response"], SCALE).score for row in rows]
    row_us = (time.process_time() - began) / len(rows) * 1e6
    halves = split(rows, scores)
    tables = [with_intervals(half) for half in halves.values()]
    print_row("", *halves)
    print_row("prompts", *(str(len(half)) for half in halves.values()))
    print_row(
        "responses", *(str(sum(len(prompt.scores) for prompt in half)) for half in halves.values())
    )
    for measure in tables[0]:
        print_row(measure, *("{:.3f} [{:.3f}, {:.3f}]".format(*table[measure]) for table in tables))
    print(f"{row_us:.0f} microseconds of processor time per response")


def print_row(name: str, *cells: str) -> None:
    print(f"{name:<38}" + "".join(f"{cell:>24}" for cell in cells))


def split(rows: Sequence[dict[str, Any]], scores: Sequence[int]) -> dict[str, list[Prompt]]:
    """The two halves, by the last bit of the SHA-256 of the prompt's id."""
    prompts: dict[str, tuple[list[float], list[int]]] = defaultdict(lambda: ([], []))
    for row, score in zip(rows, scores, strict=True):
        prompts[row["prompt_id"]][0].append(row["human_quality"])
        prompts[row["prompt_id"]][1].append(score)
    halves: dict[str, list[Prompt]] = {"development half": [], "held-out half": []}
    for prompt_id, (qualities, own) in prompts.items():
        is_held_out = sha256(prompt_id.encode()).digest()[-1] % 2
        halves["held-out half" if is_held_out else "development half"].append(
            to_prompt(qualities, own)
        )
    return halves


def to_prompt(qualities: list[float], scores: list[int]) -> Prompt:
    steps = [
        (quality - other_quality) * (score - other_score)
        for (quality, score), (other_quality, other_score) in combinations(
            zip(qualities, scores, strict=True), 2
        )
        if quality != other_quality
    ]
    is_ordered = len(set(scores)) > 1
    return Prompt(
        qualities,
        scores,
        spearman=(float(spearmanr(qualities, scores).statistic) if is_ordered else 0.0)
        if steps
        else None,
        kendall=(float(kendalltau(qualities, scores).statistic) if is_ordered else 0.0)
        if steps
        else None,
        right=sum(step > 0 for step in steps),
        tied=sum(step == 0 for step in steps),
        wrong=sum(step < 0 for step in steps),
    )


def with_intervals(half: Sequence[Prompt]) -> dict[str, tuple[float, float, float]]:
    """Each measure with the low and high ends of its interval."""
    draw = random.Random(0)
    resamples = [measures(draw.choices(half, k=len(half))) for _ in range(RESAMPLES)]
    intervals = {}
    for name, value in measures(half).items():
        steps = quantiles((resample[name] for resample in resamples), n=40)
        intervals[name] = (value, steps[0], steps[-1])
    return intervals


def measures(half: Sequence[Prompt]) -> dict[str, float]:
    """Agreement on one half; pairs that the rater ties count as neither right nor wrong."""
    qualities = [quality for prompt in half for quality in prompt.qualities]
    scores = [score for prompt in half for score in prompt.scores]
    labels = [int(quality * SCALE.high + 0.5) for quality in qualities]
    right, tied, wrong = (
        sum(pairs) for pairs in zip(*((p.right, p.tied, p.wrong) for p in half), strict=True)
    )
    pairs = right + tied + wrong
    sample = Sample(np.arange(len(scores)), np.array(scores, float), np.array(labels, float), SCALE)
    return {
        "Spearman, all responses": float(spearmanr(qualities, scores).statistic),
        "Spearman, mean within prompts": fmean(p.spearman for p in half if p.spearman is not None),
        "Kendall tau-b, mean within prompts": fmean(
            p.kendall for p in half if p.kendall is not None
        ),
        "pairs within prompts in right order": right / pairs,
        "  tied": tied / pairs,
        "  in wrong order": wrong / pairs,
        "pairwise accuracy without ties": right / (right + wrong),
        "quadratic weighted kappa": quadratic_weighted_kappa(sample).value,
    }


if __name__ == "__main__":
    main()
