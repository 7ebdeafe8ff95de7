"""The step "Score a reply" for Slack workflows: its request, and how it ends."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import select

from bot.domain.case import LoggedCase
from bot.domain.verdict import CaseVerdict
from bot.domain.week import Week
from bot.feature import Feature, Named, Services, WeekBlocks
from bot.features.workflow import handlers, text
from bot.features.workflow.queries import COMPLETE, Executions
from bot.figures.week import passed
from bot.pipeline.engine import PeriodicJob
from bot.slack.blocks import section
from bot.store import schema
from bot.store.figures import Place
from bot.store.visibility import Origin


def feature(services: Services) -> Feature:
    executions = Executions(services.store.database)

    async def tell(case: LoggedCase, verdict: CaseVerdict) -> None:
        if case.is_automated:
            await handlers.tell(services, executions, case.id, case, verdict)

    async def fails(body: Mapping[str, Any], sentence: str) -> bool:
        event = body.get("event") or {}
        if event.get("type") != "function_executed":
            return False
        is_ours = body["team_id"] == services.identity.team_id
        # The app's own token is not valid in another workspace; the token that comes with the step
        # is.
        token = None if is_ours else event["bot_access_token"]
        await handlers.fail(services, event["function_execution_id"], sentence, token)
        return True

    async def week_blocks(place: Place, week: Week, now: datetime, _: Named) -> WeekBlocks:
        its = replace(place, origin=Origin.AUTOMATED)
        line = text.week_line(await services.store.tallies.scores(its, passed(week, now)))
        return [section(line)] if line else [], []

    resubmit = partial(executions.resubmit, services.identity.team_id)
    return Feature(
        register=partial(handlers.register, services=services, executions=executions),
        on_verdict=tell,
        fails=fails,
        week_blocks=week_blocks,
        jobs={COMPLETE: lambda payload: handlers.settle(services, executions, payload.case_id)},
        periodic_jobs=[
            PeriodicJob("resubmit_executions", resubmit, teams=select(schema.executions.c.team_id))
        ],
    )
