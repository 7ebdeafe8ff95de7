"""`judge pairs`: preference pairs from scored rows."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli import options
from judge.cli.options import Reports, say, to_summary
from judge.rows.files import Format, refuse_foreign, replacing


def pairs(
    source: Annotated[Path, typer.Argument(metavar="SCORED", help="JSONL as 'judge batch' writes it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the pairs; it is replaced.")],
    form: Annotated[Format | None, typer.Option("--format", help="Its format; by default from its name.")] = None,
) -> None:
    """Pair each prompt's best response with its worst.

    Rows belong together by prompt_id, or by prompt. Ties and unscored rows are left out and counted.
    Exit code 0: done, 1: some lines could not be read, 2: error.
    """
    from judge.rows.exports import Counts, choose_format, export, make_pairs

    form = choose_format(output, form)
    options.refuse_same_file(source, output, "the pairs would be written over the scored rows")
    refuse_foreign(output, b"PAR1" if form is Format.PARQUET else b"prompt_id", "a file of pairs", "-o")
    counts = Counts()
    # For a table, the pairs are first written to a JSONL file beside it.
    lines = output if form is Format.JSONL else output.with_name(f"{output.name}.pairing")
    try:
        with replacing(lines, f"{output}: cannot write it ({{reason}}).") as file:
            file.writelines(f"{pair}\n".encode() for pair in make_pairs(source, Reports(), counts))
        if form is not Format.JSONL:
            export(lines, output, form)
    finally:
        if lines != output:
            lines.unlink(missing_ok=True)
    say(
        to_summary(
            f"Pairs: {counts.pairs:,}, in {output}.",
            f"Prompts left out: {counts.ties:,} for a tie, {counts.alone:,} with one scored response. "
            f"Lines left out: {counts.unscored:,} unscored, {counts.malformed:,} skipped.",
        )
    )
    raise typer.Exit(1 if counts.malformed else 0)
