"""`judge align`: learns from people's labels how to score."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import asdict
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.cli import options
from judge.cli.options import Reports, say, to_printable, to_summary
from judge.cli.progress import run_interruptibly, show_progress
from judge.errors import JudgeError, SetupError
from judge.rows.files import encode, replacing
from judge.scoring.numbers import number_of

if TYPE_CHECKING:
    from judge.evaluation.align import Alignment, Asker, LabelledCase
    from judge.evaluation.align.trial import Trial
    from judge.scoring.judging import Judge
    from judge.scoring.rubric import Rubric

_GO_ON = "run the same command to continue."


@options.makes_judge
def align(
    file: Annotated[
        Path,
        typer.Argument(help="JSONL or CSV with prompt, response, people's label, maybe a reason."),
    ],
    label: options.Label,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The file for the rubric, if it is clearly better."),
    ],
    make: "Callable[..., Judge]",
    scale: options.LabelScale = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WAY",
            help="calibration, examples or rubric; repeatable.",
            show_default="all in turn",
        ),
    ] = None,
    max_requests: Annotated[
        int, typer.Option(min=1, help="Verdicts and proposals to ask for, at most.")
    ] = 400,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens to use, at most.")] = 2_000_000,
    concurrency: options.Concurrency = 8,
    as_json: options.AsJson = False,
) -> None:
    """Make the judge learn from labels, and test it on others.

    Two fifths of the labels, by thread, are for learning. A change is tried on the others, and
    written only if it is clearly better. Run it again to continue. Exit code 0: better, 1: not
    clearly better, 2: error, 130: interrupted.
    """
    from judge.evaluation import align as aligning
    from judge.evaluation.align import Way
    from judge.evaluation.align.files import FileMemory, read_labelled
    from judge.scoring.offline import OFFLINE

    if output.exists():
        raise SetupError(f"{output} exists; choose another output, or delete it.")
    if not output.parent.is_dir():
        raise SetupError(f"{output}: there is no folder {output.parent}.")
    judge = make()
    try:
        # The offline rater reads no rubric.
        ways = [Way(name) for name in by or ([Way.CALIBRATION] if judge.model == OFFLINE else Way)]
    except ValueError as exc:
        raise SetupError(
            f"--by {' '.join(by or [])}: name calibration, examples or rubric."
        ) from exc
    cases, known, problems = read_labelled(file, label, judge, scale)
    Reports(problems)
    if why := aligning.obstacle(cases):
        raise SetupError(f"{file}: {why}")
    with FileMemory(file.with_name(f"{file.stem}.align.jsonl")) as memory:
        # The offline rater makes no requests.
        budget = aligning.Budget(len(cases) if judge.model == OFFLINE else max_requests, max_tokens)
        asker = aligning.Asker(judge.by, memory, budget, known=known, concurrency=concurrency)
        came = _run_to_end(
            judge, aligning.align(cases, judge.rubric, asker, ways), asker, max_requests
        )
    Reports(filter(None, [memory.trouble]))
    if came.better:
        with replacing(output) as written:
            written.write(came.better.rubric.prompt.encode())
    if as_json:
        typer.echo(encode(_to_dict(came, asker)))
    else:
        _print_alignment(came, asker, cases, judge.rubric, output)
    raise typer.Exit(0 if came.better else 1)


def _run_to_end(
    judge: "Judge", call: Coroutine[Any, Any, "Alignment"], asker: "Asker", max_requests: int
) -> "Alignment":
    """The alignment.

    If it is interrupted or stopped, the command ends here and says how many requests it has made.
    """
    progress = partial(show_progress, lambda: asker.requests, lambda: max_requests, "requests")
    try:
        return asyncio.run(run_interruptibly(judge, call, progress))
    except (KeyboardInterrupt, asyncio.CancelledError):
        typer.echo(f"Interrupted after {asker.requests:,} requests; {_GO_ON}", err=True)
        raise typer.Exit(130) from None
    except SetupError:  # no request was made
        raise
    except JudgeError as exc:
        raise JudgeError(f"{exc} Stopped after {asker.requests:,} requests; {_GO_ON}") from exc


def _print_alignment(
    came: "Alignment",
    asker: "Asker",
    cases: "Sequence[LabelledCase]",
    rubric: "Rubric",
    output: Path,
) -> None:
    from judge.evaluation.align import Way

    say(to_summary(*_head(came, cases)))
    tried = {trial.way: trial for trial in came.trials}
    for way in sorted({*tried, *came.untried}, key=list(Way).index):
        if way in tried:
            _print_trial(tried[way])
        else:
            say("\n" + to_summary(f"{way.value.capitalize()}: not tested. {came.untried[way]}"))
    typer.echo("")
    say(to_summary(*_tail(came, asker, output)))
    if came.better:
        typer.echo("")
        before, after = rubric.prompt.splitlines(), came.better.rubric.prompt.splitlines()
        typer.echo(
            to_printable(
                "\n".join(unified_diff(before, after, rubric.name, str(output), lineterm="", n=1))
            )
        )


def _head(came: "Alignment", cases: "Sequence[LabelledCase]") -> Iterator[str]:
    from judge.evaluation.severity import Severities

    learned = f"{came.learned} labelled rows to learn from ({came.learned_threads} threads)"
    yield f"{learned}, {came.tested} to test on ({came.tested_threads})."
    if seen := sum(not each.is_blind for each in cases):
        yield (
            f"Careful: {seen} rows have labels given after the judge's score was seen; these "
            "tend to agree with it."
        )
    yield from Severities([(by, 0.0)] for case in cases for by in case.people).words()


def _print_trial(trial: "Trial") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("", "Before", "After"):
        table.add_column(title, justify="right" if title else "left", no_wrap=True)
    for name, before, after in trial.figures:
        table.add_row(name.capitalize(), before, after)
    typer.echo(f"\n{trial.way.value.capitalize()}, attempt {trial.attempt} on these labels")
    Console(highlight=False, markup=False, emoji=False).print(table)
    lines = [
        f"{trial.finding} {trial.doubt}",
        *(["The scores that change most:"] if trial.changes else []),
    ]
    for change in trial.changes:
        question = " ".join(change.case.question.split())[:60]
        given = f"{change.before} becomes {change.after} (people: {round(change.case.label, 1):g})"
        lines.append(f"  {given}, {change.case.called}: {question}")
    say(to_summary(*lines))


def _tail(came: "Alignment", asker: "Asker", output: Path) -> Iterator[str]:
    yield (
        f"{number_of(asker.requests, 'request')}, {asker.tokens:,} tokens, with those of "
        "earlier runs."
    )
    if came.is_spent:
        yield (
            "The budget leaves too little for more; raise --max-requests or --max-tokens and run "
            "the same command to continue."
        )
    if came.better:
        yield f"{output} holds the new rubric; --rubric {output} scores by it. {came.better.effect}"
    elif came.trials:
        yield "Nothing is changed: no change is clearly better."
    else:
        yield "Nothing is changed: nothing was tested."


def _to_dict(came: "Alignment", asker: "Asker") -> dict[str, Any]:
    trials = [
        {
            **asdict(each),
            "rubric": each.rubric.prompt,
            "gain": each.gain._asdict(),
            "is_better": each.is_better,
            "changes": [
                {
                    "id": one.case.called,
                    "before": one.before,
                    "after": one.after,
                    "label": one.case.label,
                }
                for one in each.changes
            ],
        }
        for each in came.trials
    ]
    return {**asdict(came), "trials": trials, "requests": asker.requests, "tokens": asker.tokens}
