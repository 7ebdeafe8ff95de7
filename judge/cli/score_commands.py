"""`judge score` and `judge rubrics`: score one response, list the rubrics."""

import asyncio
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli import options
from judge.cli.options import to_printable
from judge.errors import SetupError
from judge.rows.files import encode, explaining
from judge.scoring.ratings import Rating, Unscored, Verdict
from judge.scoring.rubric import DEFAULT_RUBRIC, Rubric, list_rubrics, load_rubric, purpose_of

if TYPE_CHECKING:
    from judge.scoring.judging import Judge

Text = Annotated[
    str | None,
    typer.Option(help="The text, @FILE to read it from a file, or - for standard input."),
]


@options.makes_judge
def score(
    context: typer.Context,
    question: Text = None,
    response: Text = None,
    reference: Text = None,
    *,
    make: "partial[Judge]",
    as_json: options.AsJson = False,
) -> None:
    """Score one response: the score and its justification.

    OPENAI_API_KEY and OPENAI_BASE_URL say how to reach the model.
    Exit code 0: scored, 1: unscored, 2: error.
    """
    if [question, response, reference].count("-") > 1:
        raise SetupError(
            "Only one of --question, --response and --reference can be read from standard input."
        )
    if context.args or question is None or response is None:
        raise SetupError("Give --question and --response.")
    asked = _read_text(question, "--question")
    answer = _read_text(response, "--response")
    known = _read_text(reference or "", "--reference")
    judge = make()

    async def ask() -> Verdict:
        async with judge:
            return await judge.score(asked, answer, reference=known)

    verdict = asyncio.run(ask())
    typer.echo(
        encode(verdict.to_dict()) if as_json else to_printable(_to_text(verdict, judge.rubric))
    )
    for each in judge.shortfalls:
        options.say(options.to_options(each), err=True)
    raise typer.Exit(0 if verdict.is_scored else 1)


def _read_text(given: str, option: str) -> str:
    if given != "-" and not given.startswith("@"):
        return given
    hint = "; a text that begins with @ can be piped in with -"
    try:
        with explaining(f"{option} {given}: cannot read the file", hint):
            return (
                sys.stdin.buffer.read() if given == "-" else Path(given[1:]).read_bytes()
            ).decode()
    except UnicodeDecodeError as exc:
        raise SetupError(
            f"{option} {given}: not UTF-8 at byte {exc.start + 1}; save it as UTF-8 text."
        ) from exc


def _to_text(verdict: Verdict, rubric: Rubric) -> str:
    if verdict.unscored is None:
        head, body = f"Score: {verdict.score} of {rubric.scale.high}", verdict.justification
    else:
        head, body = "Unscored", verdict.unscored.detail
    warning = (
        "Check this one yourself: the response "
        f"{' and '.join(flag.words for flag in verdict.flags)}."
    )
    failures = dict[str, None]()
    if verdict.is_scored or len(verdict.ratings) > 1:  # otherwise the body says why
        missing = [each for each in verdict.ratings if isinstance(each, Unscored)]
        failures = dict.fromkeys(f"{each.model}: {each.detail}" for each in missing)
    paragraphs = [head, *body.splitlines(), _points(verdict)]
    paragraphs += [warning if verdict.flags else "", *failures, " · ".join(_footnote(verdict))]
    return "\n\n".join(
        textwrap.fill(paragraph, 80) for paragraph in paragraphs if paragraph.strip()
    )


def _points(verdict: Verdict) -> str:
    """Which criteria are met, or how likely."""
    said = {None: "not said", 1.0: "yes", 0.0: "no"}
    points = verdict.points or {}
    met = {name: said.get(chance) or f"{chance:.0%}" for name, chance in points.items()}
    return ", ".join(f"{name}: {answer}" for name, answer in met.items())


def _footnote(verdict: Verdict) -> Iterator[str]:
    from judge.scoring.offline import OFFLINE

    if len(verdict.ratings) > 1:
        scores = ", ".join(
            str(each.score) if isinstance(each, Rating) else "unscored" for each in verdict.ratings
        )
        yield f"{verdict.basis} ratings: {scores}"
    yield "offline rater, not a judge" if verdict.model == OFFLINE else f"model {verdict.model}"
    yield f"rubric {verdict.rubric} ({verdict.rubric_version})"
    if verdict.ask:
        yield verdict.ask
    if verdict.input_tokens is not None and verdict.output_tokens is not None:
        yield f"{verdict.input_tokens:,} + {verdict.output_tokens:,} tokens"
    if verdict.cost_usd:
        yield f"{verdict.cost_usd:.4f} USD"
    if verdict.latency_ms is not None and verdict.model != OFFLINE:
        yield f"{verdict.latency_ms / 1000:.1f} s"


def rubrics(
    name: Annotated[str | None, typer.Argument(help="Print this rubric's prompt.")] = None,
) -> None:
    """List the rubrics, or print one to copy and edit."""
    if name is not None:
        typer.echo(to_printable(load_rubric(name).prompt), nl=False)
        return
    for each in list_rubrics():
        rubric = load_rubric(each)
        low, high = rubric.scale
        default = " (the default)" if each == DEFAULT_RUBRIC else ""
        facts = f"scale {low} to {high}, version {rubric.version}"
        typer.echo(f"{each}{default}  {facts}: {purpose_of(each)}")
