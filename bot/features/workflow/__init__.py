"""The step "Score a reply" of Slack's workflows: what it asks for, and how it ends."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from bot.domain.case import LoggedCase
from bot.domain.verdict import RecordedVerdict
from bot.feature import Feature, Services
from bot.features.workflow import handlers
from bot.slack.invocation import installation_of
from bot.store.jobs import JobKind


def feature(services: Services) -> Feature:
    async def tell(case: LoggedCase, verdict: RecordedVerdict) -> None:
        if case.is_for_workflow:
            await handlers.tell(services, case.id, case, verdict)

    async def fails(body: Mapping[str, Any], sentence: str) -> bool:
        execution_id = handlers.execution_of(body)
        if execution_id is None:
            return False
        is_ours = installation_of(dict(body)) == services.identity.team_id
        # The app's own token is not for another workspace; the one that comes with the step is.
        token = None if is_ours else body["event"]["bot_access_token"]
        await handlers.fail(services, execution_id, sentence, token)
        return True

    return Feature(
        register=partial(handlers.register, services=services),
        on_verdict=tell,
        fails=fails,
        jobs={JobKind.COMPLETE: lambda payload: handlers.settle(services, payload.case_id)},
    )
