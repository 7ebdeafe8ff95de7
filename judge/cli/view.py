"""`judge view`: scored rows as a page for the browser."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli import options
from judge.cli.reports import Reports
from judge.numbers import to_range
from judge.view import MOST_REPLIES, read_replies, save_page


def view(
    file: Annotated[Path, typer.Argument(help="JSONL of 'judge batch' or 'judge-bot export'.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; by default beside the file, ending in .html.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="The field with people's labels; 'human' where the rows have it."),
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    limit: Annotated[int | None, typer.Option(min=1, max=MOST_REPLIES, help="Show the last rows of the file.")] = None,
) -> None:
    """Make a page to look at scored replies in the browser.

    It is one file that works offline. Exit code 0 means all lines could be used, 1 that some could not, 2 an error.
    """
    found = read_replies(file, label, to_range(scale) if scale else None, rubric, limit)
    page = output or file.with_suffix(".html")
    size = save_page(page, file.name, found)
    report = Reports()
    for problem in found.problems:
        report(problem)
    typer.echo(to_sentence(page, len(found.replies), size))
    raise typer.Exit(1 if found.problems else 0)


def to_sentence(page: Path, replies: int, size: int) -> str:
    """What was written, for the person who asked for it."""
    return f"{page}: {replies:,} {'reply' if replies == 1 else 'replies'}, {size / 1e6:,.1f} MB; open it in a browser."
