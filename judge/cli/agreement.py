"""`judge agreement`: how far the scores in a file can be trusted."""

import json
from pathlib import Path
from typing import Annotated

import typer

from judge.agreement.scores import Columns, Scores, read_scores
from judge.cli import options
from judge.errors import SetupError
from judge.numbers import to_range

_EXTRA = ("krippendorff", "matplotlib", "numpy", "scipy")


def agreement(
    file: Annotated[
        Path, typer.Argument(help="JSONL with a score and a label on each line, as 'judge batch' writes it.")
    ],
    label: options.Label,
    score: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="The field with the score; once for each judge.", show_default="score"),
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    by: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Also for each value of this field, such as language.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the confusion matrix into a .png or .html file.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare scores with people's labels, and judges in pairs.

    Several judges may stand in one file, by their models or in fields of their own.
    Exit code 0 means all lines could be used, 1 that some could not, 2 an error.
    """
    if plot is not None and plot.suffix not in (".png", ".html"):
        raise SetupError(f"--plot {plot}: the file must end in .png or .html.")
    if plot is not None and plot.exists() and file.exists() and plot.samefile(file):
        raise SetupError(f"--plot {plot}: the picture would be written over the scores; choose another file.")
    columns = Columns(label, tuple(score or ["score"]), to_range(scale) if scale else None, by)
    scores = read_scores(file, columns, rubric)
    try:
        _report(scores, columns, plot, as_json)
    except ModuleNotFoundError as exc:
        if exc.name not in _EXTRA:
            raise
        raise SetupError(f"judge agreement needs {exc.name}: pip install 'slack-judge[agreement]'") from exc
    raise typer.Exit(1 if scores.problems or scores.repeats else 0)


def _report(scores: Scores, columns: Columns, plot: Path | None, as_json: bool) -> None:
    from judge.agreement.report import make_report
    from judge.cli.agreement_tables import print_report, to_text

    report = make_report(scores)
    if plot is not None:
        from judge.agreement.plots import save_plot

        save_plot(plot, report.with_people, to_text(report, columns))
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False))
    else:
        print_report(report, columns)
