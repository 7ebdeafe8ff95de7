"""`judge batch`, `judge pairs` and `judge view`: score, pair and show files of responses."""

import asyncio
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from judge.cli import options
from judge.cli.options import Reports, say, to_summary
from judge.errors import JudgeError, SetupError
from judge.rows.files import Format, InputFormat, replacing
from judge.scoring.judging import Judge
from judge.scoring.model import DEFAULT_MODEL
from judge.scoring.offline import OFFLINE
from judge.scoring.rubric import DEFAULT_RUBRIC

if TYPE_CHECKING:
    from rich.progress import Progress

    from judge.rows.batch import Batch, Journal, Tally
    from judge.rows.batch_api import BatchApi
    from judge.rows.row_file import Item, Malformed

_REFRESH_S = 0.2

Result = TypeVar("Result")


async def show_progress(done: Callable[[], int], total: Callable[[], int], unit: str = "rows") -> None:
    with _make_bar(unit) as bar:
        rows = bar.add_task("", total=total() or None, completed=done())
        try:
            while True:
                await asyncio.sleep(_REFRESH_S)
                bar.update(rows, total=total() or None, completed=done())
        finally:
            bar.update(rows, total=total(), completed=done())


def _make_bar(unit: str) -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:,.1f} {unit}/s")

    console = Console(stderr=True)
    return Progress(BarColumn(24), MofNCompleteColumn(), Rate(), "left", TimeRemainingColumn(), console=console)


_GO_ON = "run the same command to continue."


def batch(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="JSONL or CSV; each row has a prompt (or question) and a completion (or response), and optionally a "
            "conversation before them; or it has messages alone.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file for the scored rows.")],
    model: options.Model = DEFAULT_MODEL,
    rubric: options.Rubric = DEFAULT_RUBRIC,
    samples: options.Samples = None,
    timeout_s: options.TimeoutS = 60,
    logprobs: options.Logprobs = False,
    escalate_to: options.EscalateTo = None,
    concurrency: Annotated[
        int, typer.Option(envvar="JUDGE_CONCURRENCY", min=1, help="Rows judged at the same time.")
    ] = 8,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first rows of the input; skipped lines do not count.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Start no further row once the output has cost this many US dollars.")
    ] = None,
    read_as: Annotated[
        InputFormat | None, typer.Option("--input-format", help="Format of INPUT; by default from its name.")
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="Also write this format when done; by default from the output's name."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 2 if INPUT has no rows or has lines that were skipped.")
    ] = False,
    batch_api: Annotated[
        bool, typer.Option("--batch-api", help="Ask in batches: half the price; each round takes up to 24 hours.")
    ] = False,
    then_direct: Annotated[
        bool, typer.Option("--then-direct", help="One round of batches; then ask directly, at full price.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel the batches in progress; their answers so far are kept.")
    ] = False,
    fail_under: Annotated[
        float | None, typer.Option(metavar="MEAN", help="A check: fail if the mean score is below this.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An earlier output of this judge, to compare by prompt.")
    ] = None,
    fail_if_worse: Annotated[
        bool, typer.Option("--fail-if-worse", help="A check: fail if scores are clearly lower than in that output.")
    ] = False,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Append the result as Markdown, as to $GITHUB_STEP_SUMMARY.")
    ] = None,
) -> None:
    """Score each row of a file; run it again to continue.

    Ctrl-C or a crash loses only the rows in progress.
    Exit code 0: all scored, 1: with gaps, 2: error, 130: interrupted.
    With a check, 0: passed, 1: failed, or rows have no verdict. A reply with nothing to judge counts as
    the lowest score. A check fails if fewer than half of the rows have a score, or clearly more are unscored.
    """
    from judge.evaluation.check import Check
    from judge.rows.batch import Batch, Journal, identity_of
    from judge.rows.exports import choose_format, export, name_beside, refuse_foreign
    from judge.rows.row_file import RowFile

    form = choose_format(output, form)
    journal_path = output if form is Format.JSONL else name_beside(output, Format.JSONL)
    table = None if form is Format.JSONL else name_beside(output, form)
    if table:
        refuse_foreign(table, form)
    for written in (journal_path, table, summary):
        _refuse_same_file(source, written)
    api = _to_batch_api(
        journal_path,
        model,
        max_cost,
        concurrency,
        is_wanted=batch_api or then_direct or cancel,
        then_direct=then_direct,
        cancels=cancel,
    )
    judge = Judge(model, rubric, samples, None, timeout_s, logprobs=logprobs, escalate_to=escalate_to)
    check = Check(judge, journal_path, fail_under, compare, fail_if_worse, summary)
    given = RowFile.at(source, read_as)
    given.check_prompts()
    last_line, lines = given.count()
    if api:
        concurrency = api.rows_at_once(lines, source.stat().st_size, judge.rubric.prompt)
    with Journal(journal_path, last_line, identity_of(judge)) as journal:
        journal.check(given)
        score = api.score if api else None
        run = Batch(judge, journal, Reports(), concurrency=concurrency, score=score, max_cost_usd=max_cost)
        tally = journal.tally
        before = tally.rows

        def rows() -> int:
            return max(min(lines - run.malformed, limit or lines), tally.rows)

        _run_to_end(judge, run, journal, partial(given.items, journal.has, limit), rows, api)
        journal.sort()
    if table:
        export(journal_path, table, form)
        say(f"Rows in {journal_path}, as a table in {table}.")
    is_offline = judge.model == OFFLINE
    say(_summary(run, journal, rows(), judged=tally.rows - before, is_offline=is_offline, cancels=cancel))
    if not lines:
        say(f"{source} is empty: it has no rows.", err=True)
    _, first = next(given.lines(), (0, b"{"))
    is_jsonl = first.lstrip(b"\xef\xbb\xbf \t").startswith(b"{")
    if not tally.rows and given.form is InputFormat.JSONL and not is_jsonl:
        say(f"{source} does not look like JSONL; if it is CSV, say --input-format csv.", err=True)
    missing = rows() - tally.rows + run.malformed
    has_failed = check.finish(missing, lambda sentence: say(to_summary(sentence)))
    if strict and (run.malformed or not rows()):
        raise typer.Exit(2)
    raise typer.Exit(int(bool(missing or tally.unscored) if has_failed is None else has_failed))


def _to_batch_api(
    output: Path, model: str, max_cost: float | None, concurrency: int, *, is_wanted: bool, **options: bool
) -> "BatchApi | None":
    path = Path(f"{output}.batches")
    if not is_wanted and path.exists():
        raise SetupError(
            f"{path} keeps what batches were asked for this output. Add --batch-api to continue, --then-direct to ask "
            "directly for the rest, or --cancel; or remove the file, to pay again."
        )
    if not is_wanted:
        return None
    from judge.rows.batch_api import BatchApi

    if model == OFFLINE:
        raise SetupError("The offline rater asks no provider; leave out --batch-api.")
    if max_cost is not None:
        raise SetupError("A batch is sent before its cost is known, so --max-cost cannot be kept; use --limit.")
    return BatchApi(path, partial(say, err=True), concurrency=concurrency, **options)


def _run_to_end(
    judge: Judge,
    run: "Batch",
    journal: "Journal",
    items: "Callable[[], Iterator[Item | Malformed]]",
    rows: Callable[[], int],
    api: "BatchApi | None",
) -> None:
    """Runs the batch. If it is interrupted or stopped, the command ends here and says how many rows are done."""
    try:
        progress = partial(show_progress, lambda: run.done, rows)
        work = api.drive(run, judge, items, journal.has) if api else run.run(items())
        if api:
            progress = partial(show_progress, lambda: api.done, lambda: api.total, "requests")
        asyncio.run(run_interruptibly(judge, work, progress))
    except (KeyboardInterrupt, asyncio.CancelledError):
        meanwhile = "batches in progress go on; " if api and api.is_waiting else ""
        say(f"Interrupted: {_share(journal.tally, rows())} in {journal.path}; {meanwhile}{_GO_ON}", err=True)
        raise typer.Exit(130) from None
    if run.stopped:
        raise JudgeError(f"{run.stopped} Stopped with {_share(journal.tally, rows())} in {journal.path}; {_GO_ON}")


async def run_interruptibly(
    judge: Judge, call: Coroutine[Any, Any, Result], progress: Callable[[], Coroutine[Any, Any, None]]
) -> Result:
    """Runs the call until it ends or SIGTERM cancels it, with a progress bar on a terminal; then closes the judge."""
    work = asyncio.create_task(call)
    loop = asyncio.get_running_loop()
    # Python delivers signals only to the main thread.
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        before = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(work.cancel) and None)
    bar = asyncio.create_task(progress()) if sys.stderr.isatty() else None
    try:
        async with judge:
            return await work
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)
        if bar:
            bar.cancel()
            await asyncio.wait([bar])


def _refuse_same_file(source: Path, written: Path | None) -> None:
    if written and source.exists() and written.exists() and os.path.samefile(source, written):
        raise SetupError(f"{written}: the rows would be written over the input; choose another output.")


def _share(tally: "Tally", rows: int) -> str:
    return f"{tally.rows:,} of {rows:,} rows"


def _summary(run: "Batch", journal: "Journal", rows: int, *, judged: int, is_offline: bool, cancels: bool) -> str:
    """A summary of the output; `judged` of its rows come from this run."""
    from judge.rows.exports import has_pair

    tally = journal.tally
    reasons = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in tally.reasons.most_common())
    why = f" ({reasons})" if reasons else ""
    is_idle = rows and not (judged or run.failed or run.is_spent or cancels)
    nothing = "Nothing to do: " if is_idle else ""
    lines = [
        f"{nothing}{tally.scored:,} of {rows:,} rows scored, {tally.unscored:,} unscored{why}, "
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
    if is_offline and tally.scored:
        lines.append("The offline rater counted words: it is not a judge.")
    if tally.input_tokens or tally.output_tokens:
        cost = "not known" if tally.unpriced else f"${tally.cost_usd:,.4f}"
        lines.append(f"{tally.input_tokens:,} + {tally.output_tokens:,} tokens; cost: {cost}.")
    if run.is_spent:
        lines.append("Stopped at --max-cost; with more, run the same command to continue.")
    elif cancels and tally.rows < rows:
        lines.append("Without --cancel, the same command asks for the rest.")
    elif run.failed:
        lines.append("The same command asks again for the rows that failed.")
    elif has_pair(journal.path):
        # A command to paste stays on one line.
        return f"{to_summary(*lines)}\nNext: judge pairs {shlex.quote(str(journal.path))} -o pairs.jsonl"
    return to_summary(*lines)


def pairs(
    source: Annotated[Path, typer.Argument(metavar="SCORED", help="JSONL as 'judge batch' writes it.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file for the pairs; an existing one is replaced.")
    ],
    form: Annotated[
        Format | None, typer.Option("--format", help="Format of the output; by default from its name.")
    ] = None,
) -> None:
    """Pair each prompt's best response with its worst.

    Rows belong together by prompt_id, or by prompt. Ties and unscored rows are left out and counted.
    Exit code 0: done, 1: some lines could not be read, 2: error.
    """
    from judge.rows.exports import Counts, choose_format, export, make_pairs

    form = choose_format(output, form)
    if source.exists() and output.exists() and os.path.samefile(source, output):
        raise SetupError(f"{output}: the pairs would be written over the scored rows; choose another output.")
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


def view(
    file: Annotated[Path, typer.Argument(help="JSONL from 'judge batch' or 'judge-bot export'.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; by default beside the file, ending in .html.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="The field with people's labels; 'human' if the rows have it."),
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
    from judge.rows.numbers import to_range

    found = read_replies(file, label, to_range(scale) if scale else None, rubric, limit)
    page = output or file.with_suffix(".html")
    size = save_page(page, file.name, found)
    report = Reports()
    for problem in found.problems:
        report(problem)
    say(to_sentence(page, len(found.replies), size))
    raise typer.Exit(1 if found.problems else 0)


def to_sentence(page: Path, replies: int, size: int) -> str:
    number = f"{replies:,} {'reply' if replies == 1 else 'replies'}"
    return f"{page}: {number}, {max(size / 1e6, 0.1):,.1f} MB; open it in a browser."
