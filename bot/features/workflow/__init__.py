"""The step "Score a reply" of Slack's workflows: what it asks for, and how it ends."""

from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.case import LoggedCase
from bot.domain.verdict import RecordedVerdict
from bot.feature import Feature, Services
from bot.features.workflow import handlers
from bot.features.workflow.completion import Completion
from bot.features.workflow.steps import execution_of
from bot.slack.invocation import installation_of
from bot.store.jobs import Task


def feature(services: Services) -> Feature:
    """The step, and the job that tells it the verdict."""
    completion = Completion(services.client, services.store, services.identity.url)
    step = handlers.ScoreStep(
        services.intake,
        services.choices,
        services.memberships,
        services.homes,
        completion,
        services.identity.host,
    )

    def register(app: AsyncApp) -> None:
        handlers.register(app, step)

    async def tell(case: LoggedCase, verdict: RecordedVerdict) -> None:
        if case.is_for_workflow:
            await completion.tell(case.id, case, verdict)

    async def fails(body: Mapping[str, Any], sentence: str) -> bool:
        execution_id = execution_of(dict(body))
        if execution_id is None:
            return False
        is_ours = installation_of(dict(body)) == services.identity.team_id
        # The app's own token is not for another workspace; the one that comes with the step is.
        await completion.fail(execution_id, sentence, None if is_ours else body["event"]["bot_access_token"])
        return True

    return Feature(
        register=register,
        on_verdict=tell,
        fails=fails,
        jobs={Task.COMPLETE: lambda ticket: completion.settle(ticket.case_id)},
    )
