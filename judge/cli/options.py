"""The options that `judge score` and `judge batch` share: who judges, and how."""

from typing import Annotated

import typer

Model = Annotated[
    str,
    typer.Option(envvar="JUDGE_MODEL", help="A model of the server; several, with commas, for a panel; or 'offline'."),
]
Rubric = Annotated[str, typer.Option(envvar="JUDGE_RUBRIC", help="A name from 'judge rubrics', or a file.")]
Samples = Annotated[
    int | None,
    typer.Option(envvar="JUDGE_SAMPLES", help="Ratings of each model; by default 3 of one, or 1 of each in a panel."),
]
Logprobs = Annotated[
    bool,
    typer.Option("--logprobs", help="Weigh the score by the model's probabilities, where the server gives them."),
]
