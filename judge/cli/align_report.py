"""The result of `judge align` for a terminal, and as plain values."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from difflib import unified_diff
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from judge.cli.options import count, say, to_summary
from judge.evaluation.align import Alignment, Asker, LabelledCase, Way
from judge.evaluation.align.trial import Trial
from judge.evaluation.labelled import mostly_by_one
from judge.scoring.rubric import Rubric

_SHOWN = 60


def print_alignment(came: Alignment, asker: Asker, cases: Sequence[LabelledCase], rubric: Rubric, output: Path) -> None:
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
        say("\n".join(unified_diff(before, after, rubric.name, str(output), lineterm="", n=1)))


def _head(came: Alignment, cases: Sequence[LabelledCase]) -> Iterator[str]:
    yield (
        f"{came.learned} labelled rows to learn from ({came.learned_threads} threads), {came.tested} to test on "
        f"({came.tested_threads})."
    )
    seen = sum(not each.is_blind for each in cases)
    if seen:
        yield f"Careful: {seen} rows have labels given after the judge's score was seen; these tend to agree with it."
    yield from mostly_by_one([each for case in cases for each in case.people])


def _print_trial(trial: Trial) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("", "Points off", "Within one", "Weighted kappa", "Unscored", "Tokens each"):
        table.add_column(title, justify="left" if not title else "right", no_wrap=True)
    rows = ("before", trial.before, trial.unscored_before), ("after", trial.after, trial.unscored_after)
    for name, figures, unscored in rows:
        table.add_row(
            name,
            f"{figures.error:.2f}",
            f"{figures.within_one:.0%}",
            "–" if figures.kappa is None else f"{figures.kappa:.2f}",
            str(unscored),
            "–" if figures.tokens is None else f"{figures.tokens:,.0f}",
        )
    typer.echo(f"\n{trial.way.value.capitalize()}, attempt {trial.attempt} on these labels")
    Console(highlight=False, markup=False, emoji=False).print(table)
    lines = [f"{trial.finding} {trial.doubt}", *(["The scores that change most:"] if trial.changes else [])]
    for change in trial.changes:
        question = " ".join(change.case.question.split())[:_SHOWN]
        given = f"{change.before} becomes {change.after} (people: {round(change.case.label, 1):g})"
        lines.append(f"  {given}, {change.case.called}: {question}")
    say(to_summary(*lines))


def _tail(came: Alignment, asker: Asker, output: Path) -> Iterator[str]:
    yield f"{count(asker.requests, 'request')}, {asker.tokens:,} tokens, with those of earlier runs."
    if came.is_spent:
        yield (
            "The budget leaves too little for more; raise --max-requests or --max-tokens and run the same command to "
            "continue."
        )
    if came.better:
        yield f"{output} holds the new rubric; --rubric {output} scores by it. {came.better.effect}"
    elif came.trials:
        yield "Nothing is changed: no change is clearly better."
    else:
        yield "Nothing is changed: nothing was tested."


def to_dict(came: Alignment, asker: Asker) -> dict[str, Any]:
    trials = [
        {
            **asdict(each),
            "rubric": each.rubric.prompt,
            "gain": each.gain._asdict(),
            "is_better": each.is_better,
            "changes": [
                {"id": one.case.called, "before": one.before, "after": one.after, "label": one.case.label}
                for one in each.changes
            ],
        }
        for each in came.trials
    ]
    return {**asdict(came), "trials": trials, "requests": asker.requests, "tokens": asker.tokens}
