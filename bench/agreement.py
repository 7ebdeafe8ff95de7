"""How often the intervals of `judge agreement` contain the true figure, and how long 100,000
responses take.

    python -m bench.agreement                                 a simulated judge, and two that are hard for kappa
    python -m bench.agreement scored.jsonl --label human      the prompts of a file, drawn with replacement
    python -m bench.agreement --samples 2000                  as docs/measurements.md has it, in a quarter of an hour

The true figure is that of 60,000 simulated prompts, or of the whole file. Samples without an
interval (fewer than 20 prompts count) are left out; the number beside each share says how many
samples remain.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from math import isnan
from pathlib import Path

import numpy as np

from judge.evaluation.agreement.measures import (
    MEASURES,
    Measure,
    interval,
    quadratic_weighted_kappa,
)
from judge.evaluation.agreement.sample import Sample, to_sample
from judge.evaluation.agreement.scores import Columns, read_scores
from judge.scoring.rubric import Scale

PROMPTS = (20, 40, 100)
SAMPLES = 100
SCALE = Scale(0, 5)
JUDGE = Path(sys.executable).with_name("judge")

Draw = Callable[[int], Sample]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "path", type=Path, nargs="?", help="JSONL with a score and a label on each line"
    )
    parser.add_argument("--label", default="human")
    parser.add_argument(
        "--scale", type=float, nargs=2, metavar=("LOW", "HIGH"), help="the labels' own"
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each size")
    arguments = parser.parse_args()
    generator = np.random.default_rng(16)
    samples = arguments.samples
    if arguments.path:
        scores = read_scores(arguments.path, Columns(arguments.label, label_range=arguments.scale))
        whole = to_sample(scores, scores.judges[0])
        assert whole is not None
        cover(
            "of the file",
            whole,
            lambda prompts: draw_prompts(whole, prompts, generator),
            number=samples,
        )
        return
    cover(
        "of one judge",
        simulate(60_000, generator),
        lambda prompts: simulate(prompts, generator),
        number=samples,
    )
    kappa = {"quadratic_weighted_kappa": quadratic_weighted_kappa}
    for title, simulation in (
        ("of a strict judge", simulate_strict),
        ("of rare zeros", simulate_rare),
    ):
        cover(
            title,
            simulation(200_000, generator),
            partial(simulation, generator=generator),
            kappa,
            samples,
        )
    time_command(simulate(33_333, generator))


def simulate(prompts: int, generator: np.random.Generator) -> Sample:
    """One to five responses per prompt, whose errors correlate within a prompt."""
    numbers = np.repeat(np.arange(prompts), generator.integers(1, 6, prompts))
    n = len(numbers)
    quality = generator.normal(3, 1, prompts)[numbers] + generator.normal(0, 1, n)
    common = generator.normal(0, 0.5, prompts)[numbers] + generator.normal(0, 0.5, n)
    labels = np.clip(quality.round(), 0, 5)
    judged = quality + common + 0.3 + generator.normal(0, 0.7, n)
    return Sample(numbers, np.clip(judged.round(), 0, 5), labels, SCALE)


def simulate_strict(prompts: int, generator: np.random.Generator) -> Sample:
    """Labels mostly 4 and 5, of one response per prompt, and a judge that is a point too strict."""
    labels = generator.choice(6, prompts, p=(0, 0.02, 0.03, 0.10, 0.40, 0.45)).astype(float)
    scores = labels - 1 + generator.choice(3, prompts, p=(0.15, 0.70, 0.15)) - 1
    return Sample(np.arange(prompts), np.clip(scores, 0, 5), labels, SCALE)


def simulate_rare(prompts: int, generator: np.random.Generator) -> Sample:
    """One response per prompt; one label in ten and, independently, one score in ten are 0, the
    others 5.
    """
    labels, scores = generator.choice([0.0, 5.0], (2, prompts), p=(0.1, 0.9))
    return Sample(np.arange(prompts), scores, labels, SCALE)


def draw_prompts(sample: Sample, prompts: int, generator: np.random.Generator) -> Sample:
    """A sample of `prompts` prompts, drawn with replacement; one that is drawn twice counts as two."""
    picks = [
        np.flatnonzero(sample.prompts == each)
        for each in generator.integers(sample.n_prompts, size=prompts)
    ]
    numbers = np.repeat(np.arange(prompts), list(map(len, picks)))
    pick = np.concatenate(picks)
    return Sample(numbers, sample.scores[pick], sample.label[pick], sample.scale)


def cover(
    title: str,
    everybody: Sample,
    draw: Draw,
    measures: Mapping[str, Measure] = MEASURES,
    number: int = SAMPLES,
) -> None:
    print(
        f"\nCoverage of 95% intervals {title}, {number:,} samples\n{'':<26}",
        *(f"{n:>5} prompts" for n in PROMPTS),
    )
    samples = {prompts: [draw(prompts) for _ in range(number)] for prompts in PROMPTS}
    for name, measure in measures.items():
        truth = measure(everybody).value
        cells = []
        for each in samples.values():
            estimates = [interval(measure(sample)) for sample in each]
            held = [low <= truth <= high for low, high in estimates if not isnan(low)]
            cells.append(f"{np.mean(held):>7.3f}{len(held):>6}" if held else f"{'-':>7}{0:>6}")
        print(f"{name:<26}", *cells, flush=True)


def time_command(sample: Sample) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        rows = zip(
            sample.prompts.tolist(),
            sample.scores.tolist(),
            sample.label.tolist(),
            strict=True,
        )
        for number, (prompt, score, label) in enumerate(rows):
            row = {"prompt_id": prompt, "response": str(number), "score": score, "human": label}
            file.write(json.dumps(row) + "\n")
        file.flush()
        command = subprocess.Popen(
            [JUDGE, "agreement", file.name, "--label", "human"], stdout=subprocess.DEVNULL
        )
        _, _, usage = os.wait4(command.pid, 0)
    seconds = usage.ru_utime + usage.ru_stime
    print(
        f"\n{len(sample.scores):,} responses: {seconds:.1f} s of processor time, "
        f"{usage.ru_maxrss / 1024:.0f} MiB"
    )


if __name__ == "__main__":
    main()
