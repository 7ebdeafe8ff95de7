"""`judge pairs`: preference pairs from a scored file."""

import os
from pathlib import Path
from typing import Annotated

import typer

from judge.batch.export import Format, choose_format, export
from judge.batch.pairs import Counts, make_pairs
from judge.cli.reports import Reports, to_summary
from judge.errors import SetupError
from judge.files import private_and_new, put_in_place
from judge.jsonl import os_reason


def pairs(
    source: Annotated[Path, typer.Argument(metavar="SCORED", help="JSONL as 'judge batch' writes it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the pairs; replaced if it is there.")],
    form: Annotated[
        Format | None, typer.Option("--format", help="What to write; without, the output's ending says it.")
    ] = None,
) -> None:
    """Pair each prompt's best response with its worst.

    Rows belong together by prompt_id, or by prompt. Ties and unscored rows are left out and counted.
    Exit code 0 means done, 1 that lines could not be read, 2 an error.
    """
    form = choose_format(output, form)
    if source.exists() and output.exists() and os.path.samefile(source, output):
        raise SetupError(f"{output}: the pairs would be written over the scored rows; choose another output.")
    counts = Counts()
    beside = output.with_name(f"{output.name}.pairing")
    try:
        with open(beside, "w", encoding="utf-8", newline="\n", opener=private_and_new) as file:
            file.writelines(f"{pair}\n" for pair in make_pairs(source, Reports(), counts))
        if form is Format.JSONL:
            put_in_place(beside, output)
        else:
            export(beside, output, form)
    except OSError as exc:
        raise SetupError(f"{output}: cannot write it ({os_reason(exc)}).") from exc
    finally:
        beside.unlink(missing_ok=True)
    typer.echo(_summary(output, counts))
    raise typer.Exit(1 if counts.malformed else 0)


def _summary(output: Path, counts: Counts) -> str:
    return to_summary(
        f"Pairs: {counts.pairs:,}, in {output}.",
        f"Prompts left out: {counts.ties:,} for a tie, {counts.alone:,} with one scored response. "
        f"Lines left out: {counts.unscored:,} unscored, {counts.malformed:,} skipped.",
    )
