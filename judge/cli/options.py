"""The options that commands share: who judges, and how; what is read of a file of scores; and which version this is."""

from pathlib import Path
from typing import Annotated

import typer


def _say_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"slack-judge {version('slack-judge')}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")]
Model = Annotated[
    str,
    typer.Option(envvar="JUDGE_MODEL", help="A model of the server; several, with commas, for a panel; or 'offline'."),
]
Rubric = Annotated[str, typer.Option(envvar="JUDGE_RUBRIC", help="A name from 'judge rubrics', or a file.")]
Samples = Annotated[
    int | None,
    typer.Option(
        envvar="JUDGE_SAMPLES", help="Most ratings of each model; by default 3 of one, or 1 of each in a panel."
    ),
]
Logprobs = Annotated[
    bool,
    typer.Option("--logprobs", help="Weigh the score by the model's probabilities, where the server gives them."),
]
EscalateTo = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", envvar="JUDGE_ESCALATE_TO", help="A stronger model, asked where ratings differ by 2 or more."
    ),
]
Label = Annotated[
    str, typer.Option(metavar="FIELD", help="The field with the label of people: a number, or a list of them.")
]
LabelScale = Annotated[
    str | None,
    typer.Option("--scale", metavar="LOW-HIGH", help="The labels' own scale, such as 0-1, mapped to the rubric's."),
]
RubricFile = Annotated[
    Path | None,
    typer.Option("--rubric", metavar="FILE", help="The rubric, where it does not come with this package."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")]
