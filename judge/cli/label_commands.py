"""`judge agreement` and `judge estimate`: what people's labels say about scores."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli import options
from judge.cli.options import Reports, say, to_summary
from judge.errors import SetupError, needs_extra
from judge.rows.files import encode
from judge.scoring.numbers import number_of

if TYPE_CHECKING:
    from judge.evaluation.estimate import FileEstimate
    from judge.evaluation.stats import Interval


def agreement(
    file: Annotated[
        Path,
        typer.Argument(help="JSONL with score and label on each line, as 'judge batch' writes it."),
    ],
    label: options.Label,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="The field with the score; several for judges.",
            show_default="score",
        ),
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Repeat everything for each value of this field, such as language.",
        ),
    ] = None,
    other_judge: options.OtherJudge = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the confusion matrix: .png or .html.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare scores with people's labels, and judges in pairs.

    One file may hold several judges, as rows of other models or as other fields.
    Exit code 0: all lines used, 1: some could not be used, 2: error.
    """
    if plot is not None and plot.suffix not in (".png", ".html"):
        raise SetupError(f"--plot {plot}: the file must end in .png or .html.")
    options.refuse_same_file(file, plot, "the picture would be written over the scores")
    from judge.evaluation.agreement.scores import Columns, read_scores

    columns = Columns(label, tuple(score or ["score"]), scale, by, other_judge)
    scores = read_scores(file, columns, rubric)
    with needs_extra("judge agreement", "agreement", "matplotlib", "numpy", "scipy"):
        from judge.cli.agreement_tables import print_report
        from judge.evaluation.agreement.report import make_report

        report = make_report(scores)
        if plot is not None:
            from judge.evaluation.agreement.plots import save_plot

            print_report(report, columns, text := StringIO())
            save_plot(plot, report, text.getvalue())
    if as_json:
        typer.echo(encode(report.to_dict()))
    else:
        print_report(report, columns)
    raise typer.Exit(1 if scores.problems or scores.repeats else 0)


def estimate(
    file: Annotated[
        Path, typer.Argument(help="JSONL with a score on each line and a label on some.")
    ],
    label: options.Label,
    score: Annotated[
        str, typer.Option(metavar="FIELD", help="The field with the score.")
    ] = "score",
    probability: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="The field with the chance to be drawn; default: 'probability'."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="The field that dependent rows share; default: 'thread'."
        ),
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    judge: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The judge, if the file has several.")
    ] = None,
    other_judge: options.OtherJudge = False,
    as_json: options.AsJson = False,
) -> None:
    """Correct the mean of many scores with a few labels.

    The labels must be of rows drawn at random, and given without seeing the score: labels with
    "blind": false are left out. Exit code 0: all lines used, 1: some could not be used, 2: error.
    """
    from judge.evaluation.estimate import Fields, estimate_file

    found = estimate_file(
        file, Fields(label, score, probability, cluster, scale, judge, other_judge), rubric
    )
    if as_json:
        typer.echo(encode(found.to_dict()))
    else:
        say(to_summary(*to_sentences(found)))
        Reports(found.problems)
    raise typer.Exit(1 if found.problems else 0)


def to_sentences(found: "FileEstimate") -> Iterator[str]:
    from judge.evaluation.estimate import how_near, why_rough
    from judge.evaluation.planning import MORE_LABELS, narrowing, within

    mean = found.mean
    good = found.good
    labels = found.mean.labels_only
    by = f"corrected by {number_of(mean.labelled, 'label')}; the judge alone says"
    yield f"Mean {_say(mean.corrected)} ({number_of(mean.n, 'score')}, {by} {mean.judge.mean:.2f})."
    share = _say(good.corrected, ".0%")
    yield (
        f"Good responses, at least {found.good_from}: {share} (the judge alone says "
        f"{good.judge.mean:.0%})."
    )
    yield f"The labels alone: mean {_say(labels)}."
    yield narrowing("the mean", (within(mean, more) for more in MORE_LABELS))
    yield from how_near(found.plus_minus, mean.labelled, found.scale)
    yield from why_rough(mean)
    yield from found.severities.words()
    if not found.unlike and mean.labelled < mean.n:
        yield (
            "No figure shows whether bad responses that the judge takes for good were labelled "
            "more rarely."
        )
    for what, p in found.unlike.items():
        of = {"score": "scores", "length": "lengths of the responses"}[what]
        yield (
            f"Careful: the labelled rows are not like the others, by the {of} (Kolmogorov-Smirnov "
            f"test, p = {p:.2g}). Draw new ones at random, and label these."
        )
    if found.shares_prompts:
        yield (
            "Rows with the same prompt_id are taken as independent; --cluster prompt_id takes "
            "them as one."
        )
    if found.not_blind:
        yield f"Left out: {number_of(found.not_blind, 'label')} given after the score was seen."
    if found.unscored:
        labelled = f" ({found.unscored_labelled:,} with a label)" if found.unscored_labelled else ""
        yield f"Left out: {number_of(found.unscored, 'row')} without a score{labelled}."


def _say(interval: "Interval | None", form: str = ".2f") -> str:
    if interval is None:
        return "unknown"
    if interval.low is None or interval.high is None:
        return f"{interval.mean:{form}}, of unknown precision"
    return f"{interval.mean:{form}}, between {interval.low:{form}} and {interval.high:{form}}"
