"""The composition root: settings become a running bot."""

import asyncio
import logging
import signal
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.digest.poster import Poster
from bot.docket.budget import Budget
from bot.docket.delivery import Delivery
from bot.docket.lookup import Lookup
from bot.docket.settle import MODEL_PAUSES, Docket
from bot.extract.cases import Choice
from bot.listeners import register
from bot.log import Log
from bot.log.probes import is_ready, render_metrics
from bot.log.spending import Spending
from bot.settings import OFFLINE, Settings
from bot.slack.access import Access
from bot.slack.client import Identity, identify, web_client
from bot.slack.http import HttpFront
from bot.slack.memberships import Memberships
from bot.slack.socket import SocketLink
from bot.slack.teller import Teller
from bot.upkeep.edits import Revision
from bot.upkeep.forgetting import Forgetting
from bot.upkeep.retention import Retention
from bot.weeks.week import Schedule
from judge import Judge, Rubric, list_rubrics, load_rubric
from judge.model import make_client

GRACE_S = 30
_NO_SECRET = SecretStr("")

logger = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Runs the bot, over Socket Mode or HTTP, until SIGTERM or SIGINT; a second signal does not wait for running cases.

    Raises:
        BotError: It cannot start, or has lost its connection for good; the message says what to mend.
    """
    connected, stopping = asyncio.Event(), asyncio.Event()
    serving = asyncio.current_task()

    def stop() -> None:
        if serving and (stopping.is_set() or not connected.is_set()):
            serving.cancel()
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        async with running_bot(settings) as bot:
            connected.set()
            await asyncio.wait([*bot.duties, asyncio.ensure_future(stopping.wait())], return_when=FIRST_COMPLETED)
            logger.info("stopping", grace_s=GRACE_S)
            for duty in bot.duties:
                if duty.done():
                    duty.result()
    except asyncio.CancelledError:
        logger.warning("stopped_at_once", left="the next start settles what was running")


@dataclass(frozen=True)
class RunningBot:
    """A bot at work: its log, and the tasks that never end unless something is wrong."""

    log: Log
    duties: Sequence[asyncio.Task[None]]


@asynccontextmanager
async def running_bot(
    settings: Settings, grace_s: float = GRACE_S, model_pauses: Sequence[timedelta] = MODEL_PAUSES
) -> AsyncIterator[RunningBot]:
    """The bot, connected. Leaving it lets running cases finish for `grace_s`, and closes everything."""
    async with AsyncExitStack() as stack:
        log = await Log.open(settings.database_url, settings.store_text)
        stack.push_async_callback(log.close)
        judges = await stack.enter_async_context(open_judges(settings))
        client = await stack.enter_async_context(web_client(settings.slack_bot_token, settings.slack_api_url))
        identity = await identify(client)
        teller = Teller(client)
        delivery = Delivery(client, teller, log, reposts_unconfirmed=settings.unconfirmed_posts == "repost")
        lookup = Lookup(client, identity.own_ids)
        docket = Docket(log, identity.team_id, judges, lookup, delivery, settings.judge_concurrency, model_pauses)
        schedule = Schedule.parse(settings.digest_day, settings.digest_time, settings.digest_tz)
        poster = Poster(client, log, identity, schedule)
        revision = Revision(log, identity.team_id, delivery)
        access = Access(client, settings.digest_by == "admins")
        bolt = make_app(client, identity, settings)
        register(
            bolt,
            identity=identity,
            log=log,
            teller=teller,
            docket=docket,
            budget=Budget(Spending(log), settings.max_cases_per_user_per_hour, settings.max_tokens_per_day),
            default=Choice(rubric_of(settings).name, settings.verdict_visibility),
            rubrics=tuple(judges),
            poster=poster,
            access=access,
            memberships=Memberships(client),
            forgetting=Forgetting(client, log, access),
            revision=revision,
        )
        link = _link(bolt, settings, log)
        await log.presence.enter()
        stack.push_async_callback(log.presence.leave)
        # Left in the order: no new payloads, running cases finish, and only then no more signs of life.
        beating = asyncio.create_task(docket.beat_forever(link.is_connected), name="beat")
        stack.push_async_callback(_cancelled, beating)
        stack.push_async_callback(docket.stop, grace_s)
        await stack.enter_async_context(link)
        logger.info("connected", team=identity.team_id, model=settings.judge_model)
        retention = Retention(log, settings.retention_days, keeps_text=settings.store_text == "full")
        duties = [beating]
        for work in (link.watch, poster.run_forever, retention.run_forever, revision.run_forever):
            duties.append(asyncio.create_task(work()))
            stack.push_async_callback(_cancelled, duties[-1])
        yield RunningBot(log, duties)


def rubric_of(settings: Settings) -> Rubric:
    """The rubric that JUDGE_RUBRIC names, by name or by path."""
    return load_rubric(settings.judge_rubric)


@asynccontextmanager
async def open_judges(settings: Settings) -> AsyncIterator[Mapping[str, Judge]]:
    """One judge for each rubric to choose from, JUDGE_RUBRIC first; they share one connection to the model."""
    default = rubric_of(settings)
    rubrics = {default.name: default} | {name: load_rubric(name) for name in list_rubrics() if name != default.name}
    async with AsyncExitStack() as stack:
        client = None
        if settings.judge_model != OFFLINE:
            key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
            client = await stack.enter_async_context(make_client(key, settings.openai_base_url))
        yield {
            name: Judge(
                model=settings.judge_model,
                rubric=rubric,
                samples=settings.judge_samples,
                client=client,
                timeout_s=settings.judge_timeout_s,
            )
            for name, rubric in rubrics.items()
        }


def make_app(client: AsyncWebClient, identity: Identity, settings: Settings) -> AsyncApp:
    """The Bolt app, without listeners yet; in HTTP mode it checks Slack's signature."""

    async def authorize() -> AuthorizeResult:
        # Our own answer, and not Bolt's default: SLACK_CLIENT_ID in the environment would switch OAuth on silently.
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            bot_id=identity.bot_id,
            bot_user_id=identity.user_id,
            bot_token=client.token,
        )

    secret = settings.slack_signing_secret
    return AsyncApp(
        client=client,
        authorize=authorize,
        signing_secret=secret.get_secret_value() if secret else None,
        request_verification_enabled=settings.serve_http,
        logger=logging.getLogger("slack_bolt"),
    )


def _link(bolt: AsyncApp, settings: Settings, log: Log) -> HttpFront | SocketLink:
    if not settings.serve_http:
        return SocketLink(bolt, settings.slack_app_token or _NO_SECRET)
    secret, address = settings.slack_signing_secret or _NO_SECRET, (settings.http_host, settings.http_port)
    return HttpFront(bolt, secret, *address, partial(is_ready, log), partial(render_metrics, log))


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
