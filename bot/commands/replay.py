"""`judge-bot replay`: judges logged cases again with another model or rubric, and compares the results.

Nothing reaches Slack, the store or the figures. The file of verdicts has the format of `judge batch`, without texts.
The same command continues where it stopped.
"""

import asyncio
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from dotenv import set_key

from bot.commands import replay_report
from bot.commands.opened import opened_database, reading
from bot.errors import BotError
from bot.judges import open_judges, rubric_of
from bot.settings import JudgeSettings, load
from bot.store import export
from judge import Judge, JudgeError
from judge.cli.options import Reports, to_summary
from judge.cli.progress import show_progress
from judge.rows.batch import Batch, identity_of
from judge.rows.files import encode
from judge.rows.journal import Journal
from judge.rows.row_file import Item as Row
from judge.scoring.rubric import Scale

_ENV = Path(".env")


def adopt(settings: Mapping[str, str], comparison: replay_report.ReplayComparison) -> bool:
    """Writes a judge's settings into `.env` if the comparison leaves no doubt, and returns whether it did."""
    if doubt := comparison.doubt:
        typer.echo(f"Not adopted: {doubt}.")
        return False
    shown = " ".join(f"{name}={value}" for name, value in settings.items())
    fixed = [name for name in settings if name in {each.upper() for each in os.environ}]
    if fixed:
        raise BotError(
            f"not adopted: the environment has {' and '.join(fixed)}, which overrides .env; set there {shown}"
        )
    try:
        for name, value in settings.items():
            set_key(_ENV, name, value, quote_mode="auto", follow_symlinks=True)
    except OSError as exc:
        raise BotError(f"not adopted: .env cannot be written ({exc.strerror}); set there {shown}") from exc
    except UnicodeEncodeError as exc:
        raise BotError(f"not adopted: .env cannot be written ({exc.reason})") from exc
    typer.echo(f"Adopted: {', '.join(settings)} in .env; the bot takes them at its next start.")
    return True


_GO_ON = "run the same command to continue."
_DRAWN = 200  # the number of cases without --limit and --only


@dataclass(frozen=True)
class Wanted:
    """What to replay."""

    output: Path
    model: str | None = None
    rubric: str | None = None
    samples: int | None = None
    only_labelled: bool = False
    limit: int | None = None
    max_cost_usd: float | None = None
    adopts: bool = False


async def replay(wanted: Wanted) -> int:
    """Judges the cases again and compares; returns the exit code, 1 with gaps or if nothing was adopted."""
    replay_report.require_agreement()
    settings = load(JudgeSettings)
    async with open_judges(_with(settings, wanted)) as make:
        judge = make(rubric_of(_with(settings, wanted)), None, None)
        version, cases = await _read_cases(wanted, judge.rubric.scale)
        with Journal(wanted.output, identity_of(judge)) as journal:
            run = Batch(
                judge,
                journal,
                Reports(),
                unit="case",
                concurrency=settings.judge_concurrency,
                max_cost_usd=wanted.max_cost_usd,
            )
            replay_report.scores_of(wanted.output, cases)  # raises before anything is paid for if it is another store's
            await _run(run, journal, cases)
            journal.sort()
    comparison = replay_report.compare(wanted.output, cases, judge.rubric.scale)
    typer.echo(to_summary(*replay_report.to_sentences(version.name, judge.version, comparison)))
    typer.echo(to_summary(*_gaps(run, journal, cases)))
    if wanted.adopts:
        return 0 if adopt(_to_env(judge, settings, wanted), comparison) else 1
    return 1 if run.failed or run.is_spent else 0


def _with(settings: JudgeSettings, wanted: Wanted) -> JudgeSettings:
    """The settings of the wanted judge; with a model given, no stronger model is asked."""
    given = {"judge_rubric": wanted.rubric, "judge_samples": wanted.samples, "judge_model": wanted.model}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value}
    if wanted.model:
        changes["judge_escalate_to"] = None
    return settings.model_copy(update=changes | {"judge_models": ()})


def _to_env(judge: Judge, settings: JudgeSettings, wanted: Wanted) -> Mapping[str, str]:
    """The settings that make this judge the app's; an empty value counts as not set."""
    env = {"JUDGE_MODEL": judge.model, "JUDGE_RUBRIC": wanted.rubric or settings.judge_rubric}
    if wanted.samples is not None:
        env["JUDGE_SAMPLES"] = str(wanted.samples)
    if settings.judge_escalate_to and judge.escalation is None:
        env["JUDGE_ESCALATE_TO"] = ""
    return env


async def _read_cases(wanted: Wanted, scale: Scale) -> tuple[export.Version, Sequence[export.Replayable]]:
    """The cases of the most common judge version on that scale; scores of two versions must not be mixed."""
    async with opened_database() as database:
        with reading("; nothing was replayed"):
            replays = export.Replays(database)
            versions = [each for each in await replays.versions() if each.scale == scale]
            if not versions:
                raise BotError(
                    f"no logged case has a score from {scale.low} to {scale.high} and its texts, so there is nothing "
                    "to replay; STORE_TEXT=none keeps none"
                )
            version = max(versions, key=lambda each: len(each.labelled) if wanted.only_labelled else len(each.case_ids))
            some = version.labelled if wanted.only_labelled else version.case_ids
            number = wanted.limit or (len(some) if wanted.only_labelled else _DRAWN)
            # Random, but the same cases each time, so that a run that ended early can continue.
            shuffled = sorted(some, key=lambda case_id: hashlib.sha256(str(case_id).encode()).digest())
            cases = await replays.cases(shuffled[:number])
    if not cases:
        raise BotError("no logged case with its texts has a label; leave out --only labelled, or label some")
    return version, cases


def _to_row(case: export.Replayable) -> Row:
    kept = {"case": case.id, "prompt_id": case.question_hash, "score_before": case.score, "human": list(case.human)}
    return Row(case.id, case.question, case.response, encode(kept), case.conversation)


async def _run(run: Batch, journal: Journal, cases: Sequence[export.Replayable]) -> None:
    rows = [_to_row(case) for case in cases if not journal.has(case.id)]
    bar = asyncio.create_task(show_progress(lambda: run.done, lambda: len(cases))) if sys.stderr.isatty() else None
    try:
        await run.run(iter(rows))
    except asyncio.CancelledError:
        typer.echo(f"Interrupted with {_share(journal, cases)}; {_GO_ON}", err=True)
        raise
    finally:
        if bar:
            bar.cancel()
            await asyncio.wait([bar])
    if run.stopped:
        raise JudgeError(f"{run.stopped} Stopped with {_share(journal, cases)}; {_GO_ON}")


def _share(journal: Journal, cases: Sequence[export.Replayable]) -> str:
    return f"{len(replay_report.scores_of(journal.path, cases)):,} of {len(cases):,} cases"


def _gaps(run: Batch, journal: Journal, cases: Sequence[export.Replayable]) -> Iterator[str]:
    tally = journal.tally
    cost = "not known" if tally.unpriced else f"${tally.cost_usd:,.4f}"
    unscored = list(replay_report.scores_of(journal.path, cases).values()).count(None)
    yield f"{_share(journal, cases)}, in {journal.path}; {unscored:,} unscored. Cost: {cost}."
    if run.is_spent:
        yield f"Stopped at --max-cost; raise it and {_GO_ON}"
    elif run.failed:
        yield f"{run.failed:,} failed; {_GO_ON}"
