"""`judge label`: people's own scores, given blind in a page on this machine."""

import shlex
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from judge.cli import options
from judge.cli.options import Reports, say
from judge.scoring.numbers import number_of


def label(
    file: Annotated[
        Path, typer.Argument(help="JSONL or CSV with questions and responses, scored or not.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The file for the labels; by default beside the rows, ending in .labels.jsonl.",
        ),
    ] = None,
    rubric: options.RubricFile = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The page's port; by default any that is free.")
    ] = 0,
) -> None:
    """Score replies yourself, before you see the judge's score.

    It prints the address of a page for this machine's browser. Replies come in a drawn order, one
    in five also for a second person. Run it again to continue. Ctrl-C ends it.
    Exit code 0: done, 1: some lines could not be used, 2: error.
    """
    from judge.evaluation.label import LABEL, Labelling
    from judge.evaluation.label.server import serve

    labels = output or file.with_name(f"{file.stem}.labels.jsonl")
    options.refuse_same_file(file, labels, "the labels would be written into the rows")
    labelling = Labelling(file, labels, rubric)
    Reports(labelling.problems)
    with closing(labelling), suppress(KeyboardInterrupt):
        serve(labelling, port, lambda address: say(f"Open {address}\nCtrl-C ends it."))
    say(f"{number_of(labelling.labels, 'label')} in {labels}.")
    if labelling.labels:
        rows, given = (shlex.quote(str(each)) for each in (file, labels))
        say(f"Next: judge agreement {rows} --labels {given} --label {LABEL}")
    raise typer.Exit(1 if labelling.problems else 0)
