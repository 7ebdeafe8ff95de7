"""`judge agreement`: what people's labels say about scores."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from judge.cli import options
from judge.errors import needs_extra
from judge.rows.files import encode


def agreement(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSONL with a score on each line and a label on some, as 'judge batch' writes it."
        ),
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
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labels beside the rows, as 'judge label' writes them."),
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Repeat the agreement for each value of this field, such as language.",
        ),
    ] = None,
    other_judge: options.OtherJudge = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare scores with people's labels, and correct the mean.

    One file may hold several judges, as rows of other models or as other fields. For the mean, the
    labels must be of rows drawn at random, and given without seeing the score: labels with
    "blind": false are left out of it.
    Exit code 0: all lines used, 1: some could not be used, 2: error.
    """
    from judge.evaluation.agreement.scores import Columns, read_scores

    columns = Columns(label, tuple(score or ["score"]), scale, by, labels, other_judge)
    scores = read_scores(file, columns, rubric)
    with needs_extra("judge agreement", "agreement", "numpy", "scipy"):
        from judge.cli.agreement_tables import print_report
        from judge.evaluation.agreement.report import make_report

        report = make_report(scores)
    if as_json:
        typer.echo(encode(asdict(report)))
    else:
        print_report(report, columns)
    raise typer.Exit(1 if scores.problems or scores.repeats else 0)
