"""`judge causes`: what the low replies of a file have in common."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli import options
from judge.cli.options import Reports, say
from judge.rows import files

if TYPE_CHECKING:
    from judge.evaluation.causes import Causes
    from judge.scoring.judging import Judge

_SHOWN = 8


@partial(options.makes_judge, names=("model", "ask", "timeout_s"))
def causes(
    source: Annotated[Path, typer.Argument(metavar="SCORED", help="JSONL as 'judge batch' writes it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write the rows here, the low ones with their 'cause'.")
    ] = None,
    known: Annotated[
        list[str] | None, typer.Option("--known", metavar="NAME", help="A cause to offer first; may be repeated.")
    ] = None,
    *,
    make: "partial[Judge]",
    rubric: options.RubricFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Sort the reasons of low scores into at most five causes.

    One request: the model names the causes, the counts are ours. With --ask decision, one more chooses among --known.
    Exit code 0: done, 1: some lines could not be read, 2: error.
    """
    from judge.evaluation.causes import MOST, find_causes, read_low

    options.refuse_same_file(source, output, "the rows with causes would be written over the scored rows")
    if output:
        files.refuse_foreign(output, b'{"line": ', "a file of verdicts", "-o")
    file, reasons = read_low(source, rubric)
    Reports(file.problems)

    async def find() -> "Causes":
        async with make() as judge:
            return await find_causes(judge.write, reasons, known or (), judge.decide if judge.decides else None)

    found = asyncio.run(find())
    if output:
        with files.replacing(output, f"{output}: cannot write it ({{reason}}).") as written:
            for row in file.rows():
                cause = {"cause": found.of[row.line]} if row.line in found.of else {}
                written.write(f"{files.encode({**row.fields, **cause})}\n".encode())
    if as_json:
        listed = [{"cause": each.name, "replies": len(each.replies), "lines": each.replies} for each in found.counts]
        typer.echo(json.dumps({"low": len(reasons), "left_out": found.left_out, "causes": listed}, ensure_ascii=False))
    else:
        say("\n".join(f"{len(each.replies):>4}  {each.name} ({_where(each.replies)})" for each in found.counts))
        if found.left_out:
            say(f"Of {len(reasons):,} low replies, the last {MOST} were sorted.")
    raise typer.Exit(1 if file.problems else 0)


def _where(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:_SHOWN]))
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{', …' if len(lines) > _SHOWN else ''}"
