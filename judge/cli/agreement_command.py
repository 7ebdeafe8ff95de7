"""`judge agreement`: what people's labels say about scores."""

from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from judge.cli import options
from judge.errors import SetupError, needs_extra
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
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the confusion matrix: .png or .html.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare scores with people's labels, and correct the mean.

    One file may hold several judges, as rows of other models or as other fields. For the mean, the
    labels must be of rows drawn at random, and given without seeing the score: labels with
    "blind": false are left out of it.
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

            text = StringIO()
            print_report(report, columns, text)
            save_plot(plot, report, text.getvalue())
    if as_json:
        typer.echo(encode(report.to_dict()))
    else:
        print_report(report, columns)
    raise typer.Exit(1 if scores.problems or scores.repeats else 0)
