"""`judge rubrics`: what responses are scored by."""

from typing import Annotated

import typer

from judge.cli.reports import to_printable
from judge.rubric import list_rubrics, load_rubric, purpose_of


def rubrics(name: Annotated[str | None, typer.Argument(help="Print this rubric's prompt.")] = None) -> None:
    """List the rubrics, or print one to copy and change."""
    if name is not None:
        typer.echo(to_printable(load_rubric(name).prompt), nl=False)
        return
    for each in list_rubrics():
        rubric = load_rubric(each)
        scale = f"scale {rubric.scale.low} to {rubric.scale.high}, version {rubric.version}"
        typer.echo(f"{each}  {scale}: {purpose_of(each)}")
