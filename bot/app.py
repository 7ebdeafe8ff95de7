"""The composition root: settings become a running bot."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.delivery import Delivery
from bot.docket import Docket
from bot.extract.payloads import Choice, to_invocation
from bot.listeners import Desk, register
from bot.log import Log
from bot.lookup import Lookup
from bot.settings import OFFLINE, Settings
from bot.slack import Identity, identify, open_socket_url, web_client
from bot.views import messages
from judge import Judge, Rubric, list_rubrics, load_rubric
from judge.model import make_client

GRACE_S = 30
_WENT_WRONG = "Something went wrong on my side. Please try again; the log of the app has the details."

logger = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Runs the bot over Socket Mode until SIGTERM or SIGINT.

    Raises:
        BotError: It cannot start; the message says what to mend.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    async with running_bot(settings):
        await stopping.wait()
        logger.info("stopping", grace_s=GRACE_S)


@asynccontextmanager
async def running_bot(settings: Settings, grace_s: float = GRACE_S) -> AsyncIterator[Log]:
    """The bot, connected; gives its log. Leaving it lets running cases finish for `grace_s`, and closes everything."""
    async with AsyncExitStack() as stack:
        log = await Log.open(settings.database_url, settings.store_text)
        stack.push_async_callback(log.close)
        judges = await stack.enter_async_context(open_judges(settings))
        client = await stack.enter_async_context(web_client(settings))
        identity = await identify(client)
        delivery = Delivery(client, log)
        docket = Docket(log, judges, Lookup(client, identity.own_ids), delivery, settings.judge_concurrency)
        desk = Desk(
            log=log,
            docket=docket,
            delivery=delivery,
            default=Choice(rubric_of(settings).name, settings.verdict_visibility),
            rubrics=tuple(judges),
            hosts=frozenset({urlsplit(identity.url).netloc}),
            own_ids=identity.own_ids,
        )
        stack.push_async_callback(docket.stop, grace_s)
        sweeper = asyncio.create_task(docket.sweep_forever(), name="sweep")
        stack.push_async_callback(_cancelled, sweeper)
        await stack.enter_async_context(_connected(make_app(client, identity, desk), settings))
        logger.info("connected", team=identity.team_id, model=settings.judge_model)
        yield log


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


def make_app(client: AsyncWebClient, identity: Identity, desk: Desk) -> AsyncApp:
    """The Bolt app with all listeners."""

    async def authorize() -> AuthorizeResult:
        # Our own answer, and not Bolt's default: SLACK_CLIENT_ID in the environment would switch OAuth on silently.
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            bot_id=identity.bot_id,
            bot_user_id=identity.user_id,
            bot_token=client.token,
        )

    app = AsyncApp(
        client=client, authorize=authorize, request_verification_enabled=False, logger=logging.getLogger("slack_bolt")
    )
    register(app, desk)

    @app.error
    async def on_error(error: Exception, body: dict[str, Any]) -> None:
        logger.error("listener_failed", kind=body.get("type") or body.get("command"), exc_info=error)
        invocation = to_invocation(body)
        asked = desk.apology(invocation)
        await desk.delivery.tell(asked, messages.sentence(_WENT_WRONG))

    return app


@asynccontextmanager
async def _connected(app: AsyncApp, settings: Settings) -> AsyncIterator[None]:
    # Asked for here, because the handler would try a wrong token again for ever without a word to the caller.
    url = await open_socket_url(app.client, settings)
    token = settings.slack_app_token.get_secret_value()
    handler = AsyncSocketModeHandler(app, token, logger=logging.getLogger("slack_sdk.socket_mode"))
    handler.client.wss_uri = url
    try:
        await handler.client.connect()  # type: ignore[no-untyped-call]
        yield
    finally:
        await handler.client.close()  # type: ignore[no-untyped-call]


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
