"""`judge batch`: scores the rows of a file."""

import asyncio
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli import options
from judge.cli.options import say
from judge.cli.progress import run_interruptibly, show_progress
from judge.errors import JudgeError, SetupError
from judge.rows.files import Format, refuse_foreign

if TYPE_CHECKING:
    from judge.evaluation.check import Check
    from judge.evaluation.closeness import Closeness
    from judge.rows.batch import Batch
    from judge.rows.journal import JournalTally
    from judge.rows.row_file import Row, RowFile
    from judge.scoring.judging import Judge

Input = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="JSONL or CSV; each row has a prompt (or question) and a completion (or response), "
        "and optionally a "
        "conversation before them and a reference; or it has messages alone.",
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The file for the scored rows; one in .csv or .parquet is written beside .jsonl.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="Only the first rows of the input; skipped lines do not count."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0, help="Start no further row once it has cost so many US dollars."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(metavar="MEAN", help="A check: fail if the mean score is below this."),
]
Compare = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Its earlier output, to compare by prompt; with --label also another judge's.",
    ),
]
FailIfWorse = Annotated[
    bool,
    typer.Option(
        "--fail-if-worse", help="A check: fail if scores are clearly lower than in that output."
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD", help="The field with people's labels, to correct the comparison."
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="Also show the difference for each of its values; of other questions, compare within "
        "them.",
    ),
]
OtherQuestions = Annotated[
    bool,
    typer.Option(
        "--other-questions",
        help="Where no question is in both files: take them for samples of one stream.",
    ),
]
Summary = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Append the result to $GITHUB_STEP_SUMMARY, say."),
]

_MANY = 100
"""From so many rows on, it is worth a request to find out a cheaper way to ask."""


@dataclass
class Checks:
    """What the output is compared with, and what fails."""

    fail_under: FailUnder = None
    compare: Compare = None
    fail_if_worse: FailIfWorse = False
    other_judge: options.OtherJudge = False
    label: Label = None
    scale: options.LabelScale = None
    by: By = None
    other_questions: OtherQuestions = False
    summary: Summary = None

    def begin(self, judge: "Judge", path: Path) -> "Check | Closeness":
        """The check of the output at `path`; raises SetupError for what cannot be compared."""
        from judge.evaluation.check import Check
        from judge.evaluation.closeness import Closeness, is_of_another_judge

        if not (self.compare and self.label and is_of_another_judge(self.compare, judge)):
            return Check(
                judge,
                path,
                self.fail_under,
                self.compare,
                self.fail_if_worse,
                self.summary,
                self.other_judge,
                self.label,
                self.scale,
                self.by,
                self.other_questions,
            )
        if self.fail_under is not None or self.fail_if_worse or self.summary:
            raise SetupError(
                f"--compare {self.compare}: another judge scored it, so it is only said which of "
                "the two is closer to people's labels; leave out --fail-under, --fail-if-worse and "
                "--summary."
            )
        return Closeness(judge, path, self.compare, self.label, self.scale)


@options.makes_judge
def batch(
    source: Input,
    output: Output,
    *,
    make: "partial[Judge]",
    concurrency: options.Concurrency = 8,
    limit: Limit = None,
    max_cost: MaxCost = None,
    checks: Checks,
) -> None:
    """Score each row of a file; run it again to continue.

    Ctrl-C or a crash loses only the rows in progress.
    Exit code 0: all scored, 1: with gaps, 2: error, 130: interrupted.
    With a check, 0: passed, 1: failed, or rows are missing (calls failed, lines were skipped), 2:
    it cannot tell. A reply with nothing to judge counts as the lowest score. Rows without a score
    fail a check only if they are more than half, or clearly more than before.
    """
    from judge.rows.row_file import RowFile

    path, table = _to_files(source, output, checks.summary)
    judge = make()
    check = checks.begin(judge, path)
    given = RowFile.at(source)
    work = _run(judge, make, given, path, concurrency, max_cost, limit)
    if table:
        _write_table(given, path, table)
    _say_result(work, path, make.keywords["rubric"])
    outcome = check.finish(work.missing, lambda sentence: say(options.to_summary(sentence)))
    raise typer.Exit(work.has_gaps if outcome is None else outcome)


def _write_table(given: "RowFile", path: Path, table: Path) -> None:
    from judge.rows.exports import choose_format, export
    from judge.rows.sheet import find_delimiter

    delimiter = find_delimiter(given.path) if given.is_sheet else ","
    export(path, table, choose_format(table), delimiter)
    say(f"Rows in {path}, as a table in {table}.")


def _say_result(work: "_Work", path: Path, rubric: str) -> None:
    from judge.scoring.rubric import list_rubrics

    say(options.to_summary(*map(options.to_options, work.sentences())))
    if work.tally.rows:
        own = [] if rubric in list_rubrics() else ["--rubric", rubric]
        say(f"Next: {shlex.join(['judge', 'view', str(path), *own])}")


def _suggest(judge: "Judge", make: "partial[Judge]") -> None:
    """Says that the model gives distributions, if it does; asks it about one made-up response."""
    from judge.scoring.ways import DISTRIBUTION, USUAL

    async def try_out() -> bool:
        # The few tokens also end a text, in case that there are no log probabilities.
        few = {"ask": DISTRIBUTION, "samples": 1, "answer_tokens": 8, "points": False}
        async with make(**few) as short, asyncio.timeout(10):
            return (await short.score(*USUAL)).probabilities is not None

    if judge.ask or not judge.most_ratings:
        return
    with suppress(JudgeError, TimeoutError):
        if asyncio.run(try_out()):
            say(
                options.to_summary(
                    "Way to ask: text. With this model --ask distribution works, too: a tenth of "
                    "the time and tokens, and a better order, but no reasons."
                )
            )


def _run(
    judge: "Judge",
    make: "partial[Judge]",
    given: "RowFile",
    path: Path,
    concurrency: int,
    max_cost: float | None,
    limit: int | None = None,
) -> "_Work":
    """Scores the rows of a file.

    If it is interrupted or stopped, the command ends here and says how many rows are done.
    """
    from judge.rows.batch import Batch, identity_of
    from judge.rows.journal import Journal, survey

    with _without_empty_file(path), Journal(path, identity_of(judge)) as journal:
        lines = survey(given, journal)
        if not journal.rows and min(lines, limit or lines) >= _MANY:
            _suggest(judge, make)
        batch = Batch(
            judge, journal, options.Reports(), concurrency=concurrency, max_cost_usd=max_cost
        )
        work = _Work(batch, lines, limit)
        _finish(work, given.items(lambda at: at in journal.rows, limit))
        journal.sort()
    return work


def _finish(work: "_Work", items: "Iterator[Row | str]") -> None:
    run = work.batch
    progress = partial(show_progress, lambda: (work.tally.rows + run.failed, work.rows))
    try:
        asyncio.run(run_interruptibly(run.judge, run.run(items), progress))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say(f"Interrupted: {work.share}; run the same command to continue.", err=True)
        raise typer.Exit(130) from None
    if run.stopped:
        raise JudgeError(f"{run.stopped} Stopped with {work.share}; the next run continues there.")


@contextmanager
def _without_empty_file(path: Path) -> Iterator[None]:
    """Removes the output again if the run ended early without a verdict."""
    try:
        yield
    except (typer.Exit, JudgeError):
        if path.is_file() and not path.stat().st_size:
            path.unlink()
        raise


def _to_files(source: Path, output: Path, summary: Path | None) -> tuple[Path, Path | None]:
    """The paths of the journal, and of the table of it, if one is asked for."""
    from judge.rows.exports import choose_format

    form = choose_format(output)
    table = None
    journal = output
    if form is not Format.JSONL:
        table = output
        journal = output.with_suffix(".jsonl")
        mark = b"PAR1" if form is Format.PARQUET else b"line"
        refuse_foreign(table, mark, "a table of 'judge batch'", "-o")
    rows = "the rows" if journal == output else f"the rows for {output.name}"
    for written in (journal, table, summary):
        options.refuse_same_file(source, written, f"{rows} would be written over the input")
    return journal, table


@dataclass
class _Work:
    batch: "Batch"
    lines: int  # of the input
    limit: int | None

    @property
    def tally(self) -> "JournalTally":
        return self.batch.journal.tally

    @property
    def rows(self) -> int:
        """The number of rows, as far as is known: lines that are not rows show only when it is
        their turn.
        """
        return max(
            min(self.lines - self.batch.malformed, self.limit or self.lines), self.tally.rows
        )

    @property
    def missing(self) -> int:
        """The number of rows without a verdict, and of lines that are not rows."""
        return self.rows - self.tally.rows + self.batch.malformed

    @property
    def has_gaps(self) -> bool:
        return bool(self.missing or self.tally.unscored)

    @property
    def share(self) -> str:
        return f"{self.tally.rows:,} of {self.rows:,} rows in {self.batch.journal.path}"

    def sentences(self) -> Iterator[str]:
        from judge.rows.journal import answered_as
        from judge.scoring.offline import OFFLINE

        run = self.batch
        tally = self.tally
        reasons = ", ".join(
            f"{count:,} {reason.replace('_', ' ')}" for reason, count in tally.reasons.most_common()
        )
        why = f" ({reasons})" if reasons else ""
        yield (
            f"{tally.scored:,} of {self.rows:,} rows scored, {tally.unscored:,} "
            f"unscored{why}, {run.failed:,} failed, {run.malformed:,} skipped."
        )
        if tally.scored:
            yield _score_counts(tally)
        if run.judge.model == OFFLINE and tally.scored:
            yield "The offline rater counted words: it is not a judge."
        for each in answered_as(tally.served):
            yield f"Model {each}: compare only rows of one of them (see `ratings`)."
        if tally.input_tokens or tally.output_tokens:
            cost = "not known" if tally.unpriced else f"${tally.cost_usd:,.4f}"
            yield f"{tally.input_tokens:,} + {tally.output_tokens:,} tokens; cost: {cost}."
        yield from run.judge.shortfalls
        if run.is_spent:
            yield "Stopped at --max-cost; with more, run the same command to continue."
        elif run.failed:
            yield "The same command asks again for the rows that failed."


def _score_counts(tally: "JournalTally") -> str:
    mean = sum(score * count for score, count in tally.scores.items()) / tally.scored
    counts = ", ".join(f"{score}: {count:,}" for score, count in sorted(tally.scores.items()))
    which = f", of the {tally.scored:,} scored" if tally.unscored else ""
    return f"Rows by score: {counts}. Mean {mean:.2f}{which}."
