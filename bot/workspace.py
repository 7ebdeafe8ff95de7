"""One workspace: what serves its jobs and its payloads."""

import logging
from dataclasses import dataclass

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.door import register_errors, register_first, register_last
from bot.pipeline.delivery import Delivery
from bot.pipeline.engine import JobHandler, Work
from bot.pipeline.judging import Judging
from bot.pipeline.names import Names
from bot.pipeline.pipeline import CasePipeline
from bot.pipeline.slots import ModelSlots
from bot.services import Services
from bot.store.jobs import JobKind


@dataclass(frozen=True)
class Workspace:
    """One installation of the app: what serves its payloads and its jobs."""

    services: Services
    work: Work


def open_workspace(services: Services, slots: ModelSlots) -> Workspace:
    store = services.store
    handlers: dict[str, JobHandler] = {}
    if services.judges:
        client = services.client
        delivery = Delivery(client, services.messenger, store, services.identity.url)
        judging = Judging(
            store,
            services.judges,
            slots,
            services.limits,
            services.model_pauses,
            services.tracing,
        )
        names = Names(client, services.members, store.names)
        pipeline = CasePipeline(store, judging, services.lookup, delivery, names)
        handlers[JobKind.SETTLE] = lambda job: pipeline.settle(job.case_id, job.trigger_id)
        for feature in services.features:
            handlers.update(feature.jobs)
    periodic_jobs = [job for feature in services.features for job in feature.periodic_jobs]
    return Workspace(services, Work(handlers, periodic_jobs))


def make_bolt(services: Services) -> AsyncApp:
    """The Bolt app of a workspace, with all listeners.

    It verifies no signatures, because `HttpFront` does.
    """
    client = services.client
    identity = services.identity

    async def authorize() -> AuthorizeResult:
        # Replaces Bolt's default, which silently switches OAuth on if SLACK_CLIENT_ID is in the
        # environment.
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            bot_id=identity.bot_id,
            bot_user_id=identity.user_id,
            bot_token=client.token,
        )

    bolt = AsyncApp(
        # without a name, Bolt searches the call stack for one, which takes 0.1 s
        name="slack-judge",
        client=client,
        authorize=authorize,
        request_verification_enabled=False,
        logger=logging.getLogger("slack_bolt"),
    )
    register_first(bolt, services)  # sees each payload before any feature does
    register_errors(bolt, services.messenger)
    for each in services.features:
        if each.register:
            each.register(bolt)
    register_last(bolt)
    return bolt
