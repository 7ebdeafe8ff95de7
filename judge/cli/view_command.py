"""`judge view`: a page of scored responses."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli import options
from judge.cli.options import Reports, say


def view(
    file: Annotated[Path, typer.Argument(help="JSONL from 'judge batch' or 'judge-bot export'.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; by default beside the file, ending in .html.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The field with people's labels; 'human' if the rows have it.")
    ] = None,
    scale: options.LabelScale = None,
    rubric: options.RubricFile = None,
    limit: Annotated[int | None, typer.Option(min=1, max=20_000, help="Only the last rows of the file.")] = None,
) -> None:
    """Make an HTML page of scored responses.

    It works offline. Exit code 0: all lines used, 1: some could not be used, 2: error.
    """
    from judge.evaluation.view import save_page
    from judge.evaluation.view.replies import read_replies

    found = read_replies(file, label, scale, rubric, limit)
    page = output or file.with_suffix(".html")
    size = save_page(page, file.name, found)
    Reports(found.problems)
    say(to_sentence(page, len(found.replies), size))
    raise typer.Exit(1 if found.problems else 0)


def to_sentence(page: Path, replies: int, size: int) -> str:
    number = f"{replies:,} {'reply' if replies == 1 else 'replies'}"
    return f"{page}: {number}, {max(size / 1e6, 0.1):,.1f} MB; open it in a browser."
