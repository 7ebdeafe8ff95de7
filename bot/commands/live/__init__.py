"""`judge-bot live`: a check on a real workspace and model; it deletes what it posts and writes a
report to be shown.
"""

import asyncio
import platform
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer
from slack_sdk.errors import SlackApiError

from bot import judges
from bot.app import running_bot
from bot.commands.channels import find_channel
from bot.commands.doctor import USUAL
from bot.commands.live import report as reports
from bot.commands.live.report import Report, Step, compared
from bot.commands.live.steps import ALONE, MARK, WITH_PERSON, Run, Watched
from bot.domain.case import Visibility
from bot.errors import BotError
from bot.settings import OFFLINE, SLACK_API_URL, Settings
from bot.slack.client import SLACK_ERRORS, identify, slack_word, web_client
from judge import JudgeError, load_rubric
from judge.rows.files import replacing
from judge.scoring.ways import DECISION, MEMBERS

_GONE = {"message_not_found", "file_deleted", "file_not_found"}
_POCKET = Path(__file__).with_name(
    "pocket.json"
)  # what pocket-slack answers and sends, with which the app is tested
_ONE_RATING: dict[str, Any] = {
    "judge_samples": 1,
    "judge_escalate_to": None,
    "judge_escalate_spread": None,
}
_OFFLINE: dict[str, Any] = _ONE_RATING | {
    "judge_model": OFFLINE,
    "judge_models": (),
    "judge_ask": "text",
}


async def check(
    settings: Settings, given: str, output: Path, patience_s: float = 300.0, pause_s: float = 4.0
) -> Report:
    """Does all steps in a channel, given by name or id, and writes the report and its page.

    The app runs here, on a database that is deleted afterwards, so it must not run elsewhere.
    Raises BotError if the check cannot go on; all that was posted is deleted then, too.
    """
    if settings.is_for_many:
        raise BotError(
            "SLACK_BOT_TOKEN: missing; live needs the token of the one workspace that it "
            "tries the app in"
        )
    async with web_client(settings.slack_bot_token, settings.slack_api_url) as client:
        identity, channel = await identify(client), await find_channel(given, client)
        run = Run(
            client, None if settings.serve_http else settings.slack_app_token, identity, channel.id
        )
        try:
            steps = [await run.take(name, step) for name, step in ALONE.items()]
            steps += await _with_person(run, settings, patience_s)
        finally:
            if run.has_begun:
                await _delete(run, pause_s)
    made = Report(
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        system="Slack" if client.base_url == SLACK_API_URL else "GovSlack or a stand-in",
        slack_judge=version("slack-judge"),
        python=platform.python_version(),
        steps=tuple(steps),
        models=tuple([each async for each in _models(settings)]),
    )
    report = compared(made, reports.read(_POCKET))
    pages = {
        output: report.model_dump_json(indent=1),
        output.with_suffix(".html"): reports.to_page(report),
    }
    for file, content in pages.items():
        with replacing(file) as target:
            target.write(content.encode())
    typer.echo(
        "\n".join([*reports.lines(report), f"The report is in {output}, and its page beside it."])
    )
    return report


async def _with_person(run: Run, settings: Settings, patience_s: float) -> list[Step]:
    """The steps of a person, as far as they are done in time; the app asks no model and posts no
    verdict meanwhile.
    """
    watched = Watched(run)
    with tempfile.TemporaryDirectory() as folder:
        changes = {
            "database_url": f"sqlite+aiosqlite:///{folder}/live.db",
            "metrics_port": None,
            **_OFFLINE,
        }
        changes |= {"channels_allowed": {run.channel_id}, "verdict_visibility": Visibility.ME}
        async with running_bot(settings.model_copy(update=changes), 5, traffic=watched):
            typer.echo(f"Please do this, in any order, within {patience_s / 60:.0f} minutes:")
            typer.echo("\n".join(f"  {name}: {how}" for name, how in WITH_PERSON.items()))
            with suppress(TimeoutError):
                await asyncio.wait_for(watched.all_done.wait(), patience_s)
    return [watched.done.get(name, Step(step=name, why=reports.NOT_DONE)) for name in WITH_PERSON]


async def _delete(run: Run, pause_s: float) -> None:
    """Deletes all that was posted, also what an earlier check left; raises BotError if Slack cannot
    be reached.
    """
    typer.echo("Deleting what was posted ...")
    await asyncio.gather(
        *run.under_way, return_exceptions=True
    )  # an interrupted step may still post
    for tries_left in reversed(range(15)):
        try:
            found = {*run.posted}
            with suppress(SlackApiError):  # without the scope, what is known to be posted
                found |= await _find(run)
            # The newest first: a message that has replies would leave a mark.
            calls = [*(partial(run.ask, "files_delete", file=file) for file in run.files)]
            for call in [
                *calls,
                *(partial(run.here, "chat_delete", ts=ts) for ts in sorted(found, reverse=True)),
            ]:
                try:
                    await call()
                except SlackApiError as exc:
                    if slack_word(exc) not in _GONE:
                        raise
            return
        except SLACK_ERRORS as exc:
            if not tries_left:
                said = (
                    "what the check has posted could not be deleted ({}); the next check will, "
                    "or delete it in Slack"
                )
                raise BotError(said.format(slack_word(exc))) from exc
        await asyncio.sleep(pause_s)


async def _find(run: Run) -> set[str]:
    """The checks' messages in the channel with their threads, and what the app has posted since
    this one began.
    """
    found: set[str] = set()
    for each in (await run.here("conversations_history", limit=200, include_all_metadata=True))[
        "messages"
    ]:
        if each.get("metadata", {}).get("event_type") == MARK or each["ts"] >= min(
            run.posted, default="never"
        ):
            thread = [each]
            if each.get("reply_count"):  # a notice has no thread
                thread = (await run.here("conversations_replies", ts=each["ts"], limit=200))[
                    "messages"
                ]
            found |= {
                message["ts"] for message in thread if message.get("bot_id") == run.identity.bot_id
            }
    return found


async def _models(settings: Settings) -> AsyncIterator[dict[str, str]]:
    """One rating in each way to ask; nothing about the offline rater."""
    for way in MEMBERS if settings.judge_model != OFFLINE else ():
        changes = _ONE_RATING | {"judge_ask": way}
        changes |= {"judge_effort": None, "judge_tier": None} if way == DECISION else {}
        asked = {"asked for": way, "model": _name(settings.judge_model)}
        try:
            async with judges.open_judges(settings.model_copy(update=changes)) as make:
                judge = make(load_rubric(settings.judge_rubric), None, None)
                verdict = await judge.score(*USUAL)
        except JudgeError as exc:
            yield asked | {"score": type(exc).__name__}
            continue
        spent, cost = (verdict.input_tokens or 0) + (verdict.output_tokens or 0), verdict.cost_usd
        yield asked | {
            "score": str(verdict.unscored.reason if verdict.unscored else verdict.score),
            "served": _name(
                next((each.served for each in verdict.ratings if each.served), None) or "not said"
            ),
            "refused": ", ".join(judge.rejected) or "nothing",
            "tokens": str(spent or "not said"),
            "seconds": f"{(verdict.latency_ms or 0) / 1000:.1f}",
            "USD": "not known" if cost is None else f"{cost:.6f}",
        }


def _name(model: str) -> str:
    """A model's name without its folder, and of a fine-tuned one its base alone: the rest names who
    made it.
    """
    name = model.removeprefix("ft:").partition(":")[0] if model.startswith("ft:") else model
    return name.rpartition("/")[2]
