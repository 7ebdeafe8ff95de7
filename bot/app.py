"""The composition root: builds a running bot from the settings."""

import asyncio
import gc
import signal
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import structlog

from bot.domain.clock import Clock, utc_now
from bot.domain.limits import Limits
from bot.features import digest, home, labels, outcome, privacy, rubrics, score, topics, watch
from bot.judges import open_judges
from bot.link import open_link
from bot.pipeline.engine import Engine
from bot.pipeline.judges import Judges, MakeJudge, RubricChoice
from bot.pipeline.retries import MODEL_PAUSES
from bot.pipeline.slots import ModelSlots
from bot.probes import Sign, probes, sign_forever
from bot.services import Services
from bot.settings import Settings
from bot.slack.client import NOBODY, Identity, SlackClient, identify, web_client
from bot.slack.incoming import SocketLink
from bot.store import Store
from bot.store.ownership import owned
from bot.telemetry import start as start_telemetry
from bot.workspace import Workspace, open_workspace
from bot.workspaces import Workspaces
from judge import list_rubrics, load_rubric
from judge.scoring.model.wishes import FLEX

GRACE_S = 30

logger = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Runs the bot, over Socket Mode or HTTP, until SIGTERM or SIGINT; a second signal does not
    wait for running cases.

    Raises BotError, which says what to fix, if it cannot start, or has lost its connection for
    good.
    """
    connected = asyncio.Event()
    stopping = asyncio.Event()
    serving = asyncio.current_task()

    def stop() -> None:
        if serving and (stopping.is_set() or not connected.is_set()):
            serving.cancel()
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        async with running_bot(settings) as bot:
            gc.collect()
            # a full collection over all imported modules would stop the event loop for 100 ms
            gc.freeze()
            connected.set()
            await asyncio.wait(
                [*bot.tasks, asyncio.ensure_future(stopping.wait())], return_when=FIRST_COMPLETED
            )
            ended = [task for task in bot.tasks if task.done()]
            why = "told to stop" if stopping.is_set() else str(ended[0].exception())
            logger.info("stopping", grace_s=GRACE_S, reason=why)
            for task in ended:
                task.result()
    except asyncio.CancelledError:
        logger.warning("stopped_at_once", left="the next start settles what was running")


@dataclass(frozen=True)
class RunningBot:
    """A running bot: the services of its first workspace, and the tasks that end only if something
    is wrong.
    """

    services: Services
    tasks: Sequence[asyncio.Task[None]]
    workspaces: Workspaces


@asynccontextmanager
async def running_bot(
    settings: Settings,
    grace_s: float = GRACE_S,
    model_pauses: Sequence[timedelta] = MODEL_PAUSES,
) -> AsyncIterator[RunningBot]:
    """A connected bot.

    On exit, running cases get `grace_s` to finish, then everything is closed.
    """
    async with AsyncExitStack() as stack:
        services = await open_services(stack, settings)
        services.model_pauses = model_pauses
        # Everything ends in reverse order: first the payloads, then the running cases, and last the
        # signs of life.
        stack.push_async_callback(services.store.processes.leave)
        signs = list[Sign]()
        tasks = [_begin(stack, sign_forever(services.store, signs))]
        slots = ModelSlots(settings.judge_concurrency)
        services.background = slots.background
        workspaces = await _open_workspaces(services, slots)
        engine = _make_engine(services, workspaces, slots)
        signs.append(engine.is_running)
        tasks.append(_drive(stack, engine, grace_s))
        tasks += await _connect(stack, services, workspaces, signs)
        await _open_probes(stack, services, signs)
        _log_the_start(services)
        yield RunningBot(services, tasks, workspaces)


def _make_engine(services: Services, workspaces: Workspaces, slots: ModelSlots) -> Engine:
    settings = services.settings
    # An answer at flex takes longer, so more cases are in hand at once.
    for_each_slot = 3 if FLEX in (settings.watch_tier, settings.judge_tier) else 2
    at_once = for_each_slot * settings.judge_concurrency
    return Engine(services.store, workspaces, at_once, services.traffic, slots.stop_waiting)


async def _connect(
    stack: AsyncExitStack, services: Services, workspaces: Workspaces, signs: list[Sign]
) -> Sequence[asyncio.Task[None]]:
    """Opens the link to Slack; returns what watches it."""
    link = await stack.enter_async_context(open_link(services, workspaces))
    signs.append(link.is_connected)
    if isinstance(link, SocketLink):
        return [_begin(stack, link.watch())]
    return []


async def _open_probes(stack: AsyncExitStack, services: Services, signs: Sequence[Sign]) -> None:
    settings = services.settings
    if settings.metrics_port is None:
        return
    store = services.store
    is_well = [*signs, store.processes.has_signed]
    server = probes(settings.metrics_host, settings.metrics_port, store.cases, is_well)
    await stack.enter_async_context(server)


def _log_the_start(services: Services) -> None:
    settings = services.settings
    logger.info("connected", team=services.identity.team_id, model=settings.judge_model)
    in_force = {name.replace(" ", "_"): value for name, value in settings.in_force().items()}
    logger.info("in_force", **in_force)


FEATURES = (
    score.feature,
    home.feature,
    digest.feature,
    labels.feature,
    watch.feature,
    outcome.feature,
    topics.feature,
    rubrics.feature,
    privacy.feature,
)
"""The app's features. To remove one, delete it here and in `bot/features/`."""


async def open_services(stack: AsyncExitStack, settings: Settings) -> Services:
    """The store, the connection to Slack and the features that use them; they close with the stack."""
    store = await stack.enter_async_context(
        await Store.open(settings.database_url, settings.store_text)
    )
    stack.enter_context(owned(store.database))
    client = await stack.enter_async_context(
        web_client(settings.slack_bot_token, settings.slack_api_url)
    )
    identity = NOBODY if settings.is_for_many else await identify(client)
    telemetry = start_telemetry()
    if telemetry:
        stack.push_async_callback(asyncio.to_thread, telemetry.close)
    make_judge = await stack.enter_async_context(open_judges(settings))
    services = make_services(settings, store, client, identity, make_judge)
    if telemetry:
        services.tracing = telemetry
    return services


def make_services(
    settings: Settings,
    store: Store,
    client: SlackClient,
    identity: Identity,
    make_judge: MakeJudge | None = None,
    clock: Clock = utc_now,
) -> Services:
    """The app's services and features; without `make_judge`, they ask no model."""
    default = load_rubric(settings.judge_rubric)
    tier = settings.watch_tier or settings.judge_tier
    shipped = {name: load_rubric(name) for name in list_rubrics() if name != default.name}
    found = RubricChoice(store.rubrics, {default.name: default} | shipped)
    services = Services(
        settings=settings,
        store=store,
        client=client,
        identity=identity,
        limits=Limits(
            cases_per_user_per_hour=settings.max_cases_per_user_per_hour,
            cases_per_day=settings.max_cases_per_day,
            cases_per_day_in_all=settings.max_cases_per_day_in_all,
        ),
        rubrics=found,
        clock=clock,
        judges=make_judge and Judges(found, make_judge, settings.judge_models, tier),
    )
    services.features = tuple(make(services) for make in FEATURES)
    return services


async def _open_workspaces(services: Services, slots: ModelSlots) -> Workspaces:
    first = open_workspace(services, slots)
    settings = services.settings
    if not settings.is_for_many:
        return Workspaces(first)
    from bot.store.installations import Installations, TokenKeys  # takes 50 ms

    database = services.store.database
    installations = Installations(
        database, TokenKeys(settings.token_key_texts), settings.workspaces_allowed
    )
    await installations.renew()

    def make(client: SlackClient, identity: Identity) -> Workspace:
        of_workspace = replace(services, client=client, identity=identity)
        of_workspace.features = tuple(make(of_workspace) for make in FEATURES)
        return open_workspace(of_workspace, slots)

    return Workspaces(first, installations, make)


def _drive(stack: AsyncExitStack, engine: Engine, grace_s: float) -> asyncio.Task[None]:
    """The task that runs the engine until the stack exits; running cases then get `grace_s` to
    finish.
    """
    working = asyncio.create_task(engine.run_forever(), name="engine")

    async def leave(reason: type[BaseException] | None, *_: object) -> None:
        # Cancelled by a second signal, which may arrive while the connection to Slack is closing.
        await engine.stop(working, 0 if reason is asyncio.CancelledError else grace_s)

    stack.push_async_exit(leave)
    return working


def _begin(stack: AsyncExitStack, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    task = asyncio.create_task(work)

    async def end() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    stack.push_async_callback(end)
    return task
