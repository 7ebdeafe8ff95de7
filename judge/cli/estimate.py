"""`judge estimate`: what people would say of all responses, from many scores and a few labels."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from judge.cli import options
from judge.cli.reports import Reports, to_summary
from judge.estimate import Interval
from judge.estimate.report import Estimate, why_rough
from judge.estimate.rows import Fields, estimate_file
from judge.numbers import to_range


def estimate(
    file: Annotated[Path, typer.Argument(help="JSONL with a score on each line, and a label on some.")],
    label: options.Label,
    score: Annotated[str, typer.Option(metavar="FIELD", help="The field with the score.")] = "score",
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="The field with the probability of being drawn for a label, where it is not 'probability'.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="The field that rows share which are not independent, where it is not 'thread'."
        ),
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    judge: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The judge, where the file has the scores of several.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Correct the mean of many scores by a few labels.

    The labels must be of rows drawn at random, and given without seeing the score: labels with "blind": false are left
    out. Exit code 0 means all lines could be used, 1 that some could not, 2 an error.
    """
    fields = Fields(label, score, weight, cluster, to_range(scale) if scale else None, judge)
    found = estimate_file(file, fields, rubric)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        typer.echo(to_summary(*to_sentences(found)))
        report = Reports()
        for problem in found.problems:
            report(problem)
    raise typer.Exit(1 if found.problems else 0)


def to_sentences(found: Estimate) -> Iterator[str]:
    """The estimate in words."""
    mean, good, labels = found.mean, found.good, found.mean.labels_only
    by = f"corrected by {_count(mean.labelled, 'label')}; the judge alone says"
    yield f"Mean {_say(mean.corrected)} ({_count(mean.n, 'score')}, {by} {mean.judge.mean:.2f})."
    yield (
        f"Good, at least {found.good_from}: {_say(good.corrected, '.0%')} of the responses (the judge alone says "
        f"{good.judge.mean:.0%})."
    )
    yield f"The labels alone: mean {_say(labels)}."
    if found.plus_minus is not None:
        yield f"A single score: in 9 of 10 cases people are within {found.plus_minus:g} of it."
    yield from why_rough(mean)
    for what, p in found.unlike.items():
        of = {"score": "scores", "length": "lengths of the responses"}[what]
        yield (
            f"Careful: the labelled rows are not like the others, by the {of} (Kolmogorov-Smirnov test, p = {p:.2g}). "
            "Draw new ones at random, and label these."
        )
    if found.shares_prompts:
        yield "Rows with the same prompt_id are taken as independent; --cluster prompt_id takes them as one."
    if found.not_blind:
        yield f"Left out: {_count(found.not_blind, 'label')} given after the score was seen."
    if found.unscored:
        yield f"Left out: {_count(found.unscored, 'row')} without a score."


def _say(interval: Interval | None, form: str = ".2f") -> str:
    if interval is None:
        return "unknown"
    if interval.low is None or interval.high is None:
        return f"{interval.mean:{form}}, of unknown precision"
    return f"{interval.mean:{form}}, between {interval.low:{form}} and {interval.high:{form}}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
