"""`judge batch`: a file of responses."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from judge.batch.export import Format, choose_format, export, name_beside, refuse_foreign
from judge.batch.journal import Journal
from judge.batch.pairs import has_pair
from judge.batch.rows import InputFormat, Item, Source
from judge.batch.run import Batch, identity_of
from judge.batch.tally import Tally
from judge.cli import options
from judge.cli.progress import show_progress
from judge.cli.reports import Reports, to_printable, to_summary
from judge.errors import JudgeError, SetupError
from judge.judging import Judge
from judge.model import DEFAULT_MODEL
from judge.rubric import DEFAULT_RUBRIC

_GO_ON = "the same command goes on from there."


def batch(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT", help="JSONL or CSV; each row has a prompt (or question) and a completion (or response)."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the rows with their scores.")],
    model: options.Model = DEFAULT_MODEL,
    rubric: options.Rubric = DEFAULT_RUBRIC,
    samples: options.Samples = None,
    timeout_s: Annotated[
        float, typer.Option(envvar="JUDGE_TIMEOUT_S", help="Longest wait for a verdict, in seconds.")
    ] = 60,
    logprobs: options.Logprobs = False,
    escalate_to: options.EscalateTo = None,
    concurrency: Annotated[int, typer.Option(envvar="JUDGE_CONCURRENCY", min=1, help="Rows under way at once.")] = 8,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many rows of the input; what is skipped is no row.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Begin no row once the output has cost so many US dollars.")
    ] = None,
    read_as: Annotated[
        InputFormat | None, typer.Option("--input-format", help="What INPUT is; without, its ending says it.")
    ] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="Write this as well when done; the output's ending says it, too.")
    ] = None,
) -> None:
    """Score each row of a file. Run again, it judges only what is missing.

    Ctrl-C or a crash loses nothing but the rows under way.
    Exit code 0 means all scored, 1 with gaps, 2 an error, 130 interrupted.
    """
    form = choose_format(output, form)
    journal_path = output if form is Format.JSONL else name_beside(output, Format.JSONL)
    table = None if form is Format.JSONL else name_beside(output, form)
    if table:
        refuse_foreign(table, form)
    for written in (journal_path, table):
        _refuse_same_file(source, written)
    judge = Judge(model, rubric, samples, timeout_s=timeout_s, logprobs=logprobs, escalate_to=escalate_to)
    given = Source.at(source, read_as)
    given.check_prompts()
    last_line, lines = given.count()
    with Journal(journal_path, last_line, identity_of(judge)) as journal:
        journal.check(given)
        run = Batch(judge, journal, Reports(), concurrency=concurrency, max_cost_usd=max_cost)
        rows = partial(_count_rows, run, journal.tally, lines, limit)
        _run_to_end(judge, run, journal, given.items(journal.has, limit), rows)
        journal.sort()
    if table:
        export(journal_path, table, form)
        typer.echo(f"Rows in {journal_path}, as a table in {table}.")
    typer.echo(_summary(run, journal, rows()))
    if not journal.tally.rows and given.form is InputFormat.JSONL and _looks_foreign(given):
        typer.echo(f"{source} does not look like JSONL; if it is CSV, say --input-format csv.", err=True)
    raise typer.Exit(1 if run.failed or run.malformed or run.is_spent or journal.tally.unscored else 0)


def _run_to_end(judge: Judge, run: Batch, journal: Journal, items: Iterator[Item], rows: Callable[[], int]) -> None:
    """Runs the batch; one that ends early, interrupted or stopped, leaves the command here, with what it has done."""
    try:
        asyncio.run(_run(judge, run, items, rows))
    except (KeyboardInterrupt, asyncio.CancelledError):
        typer.echo(f"Interrupted: {_share(journal.tally, rows())} in {journal.path}; {_GO_ON}", err=True)
        raise typer.Exit(130) from None
    if run.stopped:
        raise JudgeError(f"{run.stopped} Stopped with {_share(journal.tally, rows())} in {journal.path}; {_GO_ON}")


async def _run(judge: Judge, run: Batch, items: Iterator[Item], rows: Callable[[], int]) -> None:
    work = asyncio.create_task(run.run(items))
    loop = asyncio.get_running_loop()
    before = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(work.cancel) and None)
    bar = asyncio.create_task(show_progress(run, rows)) if sys.stderr.isatty() else None
    try:
        async with judge:
            await work
    finally:
        signal.signal(signal.SIGTERM, before)
        if bar:
            bar.cancel()
            await asyncio.wait([bar])


def _refuse_same_file(source: Path, written: Path | None) -> None:
    if written and source.exists() and written.exists() and os.path.samefile(source, written):
        raise SetupError(f"{written}: the rows would be written over the input; choose another output.")


def _looks_foreign(given: Source) -> bool:
    _, first = next(given.lines(), (0, b"{"))
    return not first.lstrip(b"\xef\xbb\xbf \t").startswith(b"{")


def _count_rows(run: Batch, tally: Tally, lines: int, limit: int | None) -> int:
    """How many rows the input has, up to `limit`, as far as is known: a line may turn out to be none."""
    return max(min(lines - run.malformed, limit or lines), tally.rows)


def _share(tally: Tally, rows: int) -> str:
    return f"{tally.rows:,} of {rows:,} rows"


def _summary(run: Batch, journal: Journal, rows: int) -> str:
    tally = journal.tally
    reasons = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in tally.reasons.most_common())
    why = f" ({to_printable(reasons)})" if reasons else ""
    lines = [
        f"{tally.scored:,} of {rows:,} rows scored, {tally.unscored:,} unscored{why}, "
        f"{run.failed:,} failed, {run.malformed:,} skipped."
    ]
    if tally.partial:
        lines.append(
            f"Scored by fewer ratings than asked for: {tally.partial:,} of {tally.scored:,} rows (see `basis`)."
        )
    if tally.escalated:
        lines.append(f"Scored by the stronger model: {tally.escalated:,} of {tally.scored:,} rows (see `model`).")
    if tally.scored:
        mean = sum(score * count for score, count in tally.scores.items()) / tally.scored
        counts = ", ".join(f"{score}: {count:,}" for score, count in sorted(tally.scores.items()))
        lines.append(f"Rows by score: {counts}. Mean {mean:.2f}.")
    if tally.input_tokens or tally.output_tokens:
        cost = "not known" if tally.unpriced else f"${tally.cost_usd:,.4f}"
        lines.append(f"{tally.input_tokens:,} + {tally.output_tokens:,} tokens; cost: {cost}.")
    if run.is_spent:
        lines.append("Stopped at --max-cost; with more, the same command goes on from there.")
    elif run.failed:
        lines.append("The same command asks again for the rows that failed.")
    elif has_pair(journal.path):
        # A command to paste stays on one line.
        return f"{to_summary(*lines)}\nNext: judge pairs {shlex.quote(str(journal.path))} -o pairs.jsonl"
    return to_summary(*lines)
