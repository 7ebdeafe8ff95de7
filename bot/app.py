"""The composition root: settings become a running bot."""

import asyncio
import logging
import signal
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.digest.poster import Poster
from bot.docket.completion import Completion
from bot.docket.delivery import Delivery
from bot.docket.engine import Duty, Engine
from bot.docket.lookup import Lookup
from bot.docket.retries import MODEL_PAUSES
from bot.docket.settle import Docket
from bot.domain.policy import Policy
from bot.errors import BotError
from bot.judges import limits_of, open_judges, rubrics_of
from bot.listeners import register
from bot.listeners.events import ChannelEvents
from bot.probes import Probes
from bot.rubrics.choice import RubricChoice
from bot.rubrics.judges import Judges
from bot.rubrics.replay import RubricReplay
from bot.setting_values import Role
from bot.settings import Settings
from bot.slack.access import Access
from bot.slack.client import Identity, identify, web_client
from bot.slack.homes import Homes
from bot.slack.http import HttpFront
from bot.slack.memberships import Memberships
from bot.slack.socket import SocketLink
from bot.slack.teller import Teller
from bot.store import Store
from bot.store.errors import STORE_ERRORS as LOG_ERRORS
from bot.store.errors import in_brief
from bot.store.jobs import Task
from bot.store.ownership import owned
from bot.upkeep.edits import EditsUpkeep
from bot.upkeep.forgetting import ForgettingUpkeep
from bot.upkeep.retention import Retention
from bot.watching.alarm import Alarm
from bot.watching.assistants import Assistants
from bot.watching.looking import OFTEN, SELDOM, Looking
from bot.watching.reactions import Reactions
from bot.watching.recent import RecentReplies
from bot.watching.telling import AlertTeller
from bot.watching.watcher import Watcher
from bot.weeks.week import Schedule

GRACE_S = 30
SIGN_S = 5.0
SIGN_AGAIN_S = 0.5  # where something was not well, as at a start; whoever asks for its health should not wait for it
_NO_SECRET = SecretStr("")

logger = structlog.get_logger(__name__)


async def serve(settings: Settings, role: Role = Role.BOTH) -> None:
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
        async with running_bot(settings, role=role) as bot:
            connected.set()
            await asyncio.wait([*bot.tasks, asyncio.ensure_future(stopping.wait())], return_when=FIRST_COMPLETED)
            logger.info("stopping", grace_s=GRACE_S)
            for task in bot.tasks:
                if task.done():
                    task.result()
    except asyncio.CancelledError:
        logger.warning("stopped_at_once", left="the next start settles what was running")


@dataclass(frozen=True)
class RunningBot:
    """A bot at work: its log, and the tasks that never end unless something is wrong."""

    store: Store
    tasks: Sequence[asyncio.Task[None]]


@asynccontextmanager
async def running_bot(
    settings: Settings,
    grace_s: float = GRACE_S,
    model_pauses: Sequence[timedelta] = MODEL_PAUSES,
    role: Role = Role.BOTH,
) -> AsyncIterator[RunningBot]:
    """The bot, connected. Leaving it lets running cases finish for `grace_s`, and closes everything.

    Raises:
        BotError: It cannot start; the message says what to mend.
    """
    async with AsyncExitStack() as stack:
        parts = await _open(stack, settings, role)
        store = parts.store
        # Left in the reverse order: no new payloads, running cases finish, and only then no more signs of life.
        stack.push_async_callback(store.processes.leave)
        signs: list[Callable[[], Awaitable[bool]]] = []
        tasks = [_begin(stack, _sign_forever(store, signs))]
        if role is not Role.FRONT:
            make_judge = await stack.enter_async_context(open_judges(settings))
            engine = _make_engine(
                parts, settings, Judges(parts.rubrics, make_judge, settings.judge_models), model_pauses
            )
            tasks.append(_drive(stack, engine, grace_s))
            signs.append(engine.is_running)
        if role is not Role.WORKER:
            link = _make_link(parts, settings)
            await stack.enter_async_context(link)
            tasks.append(_begin(stack, link.watch()))
            signs.append(link.is_connected)
        if settings.metrics_port is not None:
            probes = Probes(settings.metrics_host, settings.metrics_port, store.cases, signs)
            await stack.enter_async_context(probes.port)
        logger.info("connected", team=parts.identity.team_id, model=settings.judge_model, role=role)
        yield RunningBot(store, tasks)


@dataclass(frozen=True)
class Parts:
    """What a process has in either role; most of what only one of them needs is made of these."""

    store: Store
    client: AsyncWebClient
    identity: Identity
    teller: Teller
    memberships: Memberships
    access: Access
    poster: Poster
    edits: EditsUpkeep
    completion: Completion
    lookup: Lookup
    rubrics: RubricChoice
    watcher: Watcher


async def _open(stack: AsyncExitStack, settings: Settings, role: Role) -> Parts:
    """The log and the connection to Slack, and what is made of both; they are closed with the stack."""
    store = await Store.open(settings.database_url, settings.store_text)
    stack.push_async_callback(store.close)
    if store.database.is_sqlite and role is not Role.BOTH:
        raise BotError(f"--role {role}: a log in SQLite has one process for all; use PostgreSQL, or --role both")
    stack.enter_context(owned(store.database))
    client = await stack.enter_async_context(web_client(settings.slack_bot_token, settings.slack_api_url))
    identity = await identify(client)
    poster = Poster(client, store, identity, _schedule(settings))
    lookup = Lookup(client, identity.own_ids, None if settings.score_people else poster.members)
    rubrics = RubricChoice(store.rubrics, rubrics_of(settings))
    return Parts(
        store=store,
        client=client,
        identity=identity,
        teller=Teller(client),
        memberships=Memberships(client),
        access=Access(client, settings.digest_by == "admins"),
        poster=poster,
        edits=EditsUpkeep(client, store),
        completion=Completion(client, store, identity.url),
        lookup=lookup,
        rubrics=rubrics,
        watcher=Watcher(store, lookup, identity, limits_of(settings), _policy(settings), rubrics),
    )


def _make_engine(parts: Parts, settings: Settings, judges: Judges, model_pauses: Sequence[timedelta]) -> Engine:
    """What drives the docket, and does what is due by the clock."""
    store, client, identity = parts.store, parts.client, parts.identity
    reposts = settings.unconfirmed_posts == "repost"
    delivery = Delivery(client, parts.teller, store, parts.completion, identity.url, reposts_unconfirmed=reposts)
    docket = Docket(store, judges, parts.lookup, delivery, settings.judge_concurrency, model_pauses)
    replay = RubricReplay(store, judges, parts.rubrics.default, parts.access, parts.teller)
    looking = Looking(client, store, identity.team_id, SELDOM if settings.watch_by == "events" else OFTEN)
    alerts = AlertTeller(client, parts.memberships)
    alarm = Alarm(alerts, store, parts.poster.members, identity.team_id, identity.url)
    retention = Retention(
        store.forgetting,
        store.audit,
        store.replies,
        store.thumbs,
        settings.retention_days,
        keeps_text=settings.store_text == "full",
    )
    return Engine(
        store,
        identity.team_id,
        work={
            Task.SETTLE: lambda ticket: docket.settle(ticket.case_id, ticket.trigger_id),
            Task.AMEND: lambda ticket: parts.edits.amend(ticket.case_id),
            Task.COMPLETE: lambda ticket: parts.completion.settle(ticket.case_id),
            Task.REPLAY: lambda ticket: replay.run(ticket.case_id),
        },
        duties=[
            Duty("post_due_digests", parts.poster.post_due),
            Duty("forget_old_cases", retention.run),
            Duty("take_finished_replies", parts.watcher.take_finished),
            Duty("look_for_replies", looking.look),
            Duty("send_due_alerts", alarm.look),
        ],
        at_once=2 * settings.judge_concurrency,
    )


def _make_link(parts: Parts, settings: Settings) -> HttpFront | SocketLink:
    """What Slack's payloads come by, to the listeners."""
    store, client, identity = parts.store, parts.client, parts.identity
    reactions = Reactions(store.digests, store.thumbs, parts.watcher)
    bolt = make_app(client, identity)
    register(
        bolt,
        identity=identity,
        store=store,
        teller=parts.teller,
        limits=limits_of(settings),
        policy=_policy(settings),
        visibility=settings.verdict_visibility,
        rubrics=parts.rubrics,
        models=settings.judge_models,
        poster=parts.poster,
        access=parts.access,
        memberships=parts.memberships,
        homes=Homes(client),
        forgetting=ForgettingUpkeep(client, store.forgetting, store.own_words, parts.access),
        lookup=parts.lookup,
        watcher=parts.watcher,
        reactions=reactions,
        assistants=Assistants(client, parts.poster.members, identity.own_ids),
        completion=parts.completion,
        recent_replies=RecentReplies(client, parts.watcher),
        alerts=AlertTeller(client, parts.memberships),
    )
    takes = ChannelEvents(parts.edits, parts.watcher, reactions, identity).takes
    if not settings.serve_http:
        return SocketLink(bolt, settings.slack_app_token or _NO_SECRET, takes)
    secret = settings.slack_signing_secret or _NO_SECRET
    return HttpFront(bolt, secret, settings.http_host, settings.http_port, takes=takes)


def make_app(client: AsyncWebClient, identity: Identity) -> AsyncApp:
    """The Bolt app, without listeners yet. It checks no signatures: what comes by HTTP, `HttpFront` has checked."""

    async def authorize() -> AuthorizeResult:
        # Our own answer, and not Bolt's default: SLACK_CLIENT_ID in the environment would switch OAuth on silently.
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            bot_id=identity.bot_id,
            bot_user_id=identity.user_id,
            bot_token=client.token,
        )

    return AsyncApp(
        name="slack-judge",  # Bolt would look through the stack for one, which takes a tenth of a second
        client=client,
        authorize=authorize,
        request_verification_enabled=False,
        logger=logging.getLogger("slack_bolt"),
    )


def _policy(settings: Settings) -> Policy:
    return Policy(settings.channels_allowed, settings.channels_denied, settings.score_people)


def _schedule(settings: Settings) -> Schedule:
    return Schedule.parse(settings.digest_day, settings.digest_time, settings.digest_tz)


async def _sign_forever(store: Store, signs: Sequence[Callable[[], Awaitable[bool]]]) -> None:
    """Says every few seconds in the log that this process is alive, and whether all of it is well."""
    while True:
        is_well, pause_s = all([await sign() for sign in signs]), SIGN_S
        try:
            await store.processes.sign(is_connected=is_well)
            pause_s = SIGN_S if is_well else SIGN_AGAIN_S
        except LOG_ERRORS as exc:
            logger.error("log_out_of_reach", reason=in_brief(exc), next_in_s=SIGN_S)
        await asyncio.sleep(pause_s)


def _drive(stack: AsyncExitStack, engine: Engine, grace_s: float) -> asyncio.Task[None]:
    """The engine at work until the stack is left; running cases have `grace_s` then to end."""
    working = asyncio.create_task(engine.run_forever(), name="engine")

    async def leave(reason: type[BaseException] | None, *_: object) -> None:
        # A second signal may come while the connection to Slack is being closed.
        await engine.stop(working, 0 if reason is asyncio.CancelledError else grace_s)

    stack.push_async_exit(leave)
    return working


def _begin(stack: AsyncExitStack, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A task that ends with the stack."""
    task = asyncio.create_task(work)
    stack.push_async_callback(_cancelled, task)
    return task


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
