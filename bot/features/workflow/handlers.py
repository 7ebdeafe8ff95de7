"""The step "Score a reply" of workflows: its request becomes a case like any other, and it ends
when the case ends.

Each step is told exactly once the verdict of its case, or why there is none. The app uses the bot's
own token for this and ignores the token that comes with each step, because that one expires after
15 minutes and a case may take longer. Slack's frameworks can do the same, Bolt with
`attaching_function_token_enabled=False`. Slack ends each step only once and reports an error to a
second attempt, so an interrupted attempt can be repeated. Sources:
https://github.com/slackapi/bolt-python/issues/1075,
https://github.com/slackapi/bolt-js/issues/2500,
https://docs.slack.dev/reference/methods/functions.completeSuccess (bot tokens, no scope).

`settle`, `tell` and `fail` raise SlackApiError, ClientError or TimeoutError if Slack fails
temporarily.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.blocker import FOREIGN, RefusedError
from bot.domain.case import Case, CaseSource, Exclusion, LoggedCase, Visibility
from bot.domain.verdict import CaseVerdict
from bot.feature import Services
from bot.features.workflow import text
from bot.features.workflow.queries import Execution, Executions
from bot.pipeline.retries import RetryError
from bot.pipeline.text import unsure_of_link
from bot.slack.client import refusal_of
from bot.slack.invocation import Invocation, Texts
from bot.slack.members import MembershipError
from bot.slack.messages import Permalink, parse_permalink
from bot.slack.mrkdwn import to_plain
from bot.store.assignments import EVERYBODY
from bot.store.cases import AT_REST

Raw = Mapping[str, Any]

FUNCTION_SCORE_REPLY = "score_reply"
"""The step's name in manifest_parts.yml, which also has those of its inputs and outputs."""
_TS = re.compile(r"[0-9]{10}\.[0-9]{6}")


def register(app: AsyncApp, services: Services, executions: Executions) -> None:
    @app.function(FUNCTION_SCORE_REPLY, auto_acknowledge=False)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        # Acknowledged only when the case is durable, because Slack sends an unacknowledged step
        # again.
        await _take(services, executions, body)
        await ack()


async def _take(services: Services, executions: Executions, body: Raw) -> None:
    """Accepts the case that a step asks for. On return the case is durable, or the step has failed
    with a sentence.

    Source: https://docs.slack.dev/reference/events/function_executed
    """
    execution_id, inputs = body["event"]["function_execution_id"], body["event"]["inputs"]
    if await executions.is_known(body["team_id"], execution_id):
        return
    # By the workflow, in no channel; not by the person, whom the builder of the workflow chooses.
    invocation = Invocation(body["team_id"], "", "workflow", "a workflow", is_foreign=False)
    automated = {"source": CaseSource.AUTOMATION, "excluded": Exclusion.AUTOMATION}
    try:
        user_id = inputs["user_id"]
        await _check_person(services, user_id)
        match to_request(inputs, services.identity.host):
            case Texts(question, response):
                asked, quotes = await services.intake.of_texts(invocation, question, response), True
                # Neither the texts nor the verdict are posted in Slack.
                asked = asked.model_copy(
                    update={"key": f"step:{execution_id}", "visibility": Visibility.ME}
                )
            case Permalink() as link:
                asked, quotes = await _linked(services, invocation, link, user_id)
        execution = Execution(execution_id, quotes)
        intake = replace(
            services.intake,
            limits=services.limits.of_automation("Workflows"),
            also=partial(executions.add, execution=execution),
        )
        case, is_new = await intake.take(asked.model_copy(update=automated), invocation)
    except RefusedError as exc:
        said = str(exc)
    except MembershipError as exc:
        said = unsure_of_link(exc)
    else:
        if not is_new:
            await executions.attach(execution, case)
        return
    await fail(services, execution_id, said)


async def _check_person(services: Services, user_id: str) -> None:
    """Raises RefusedError for a bot, a foreigner or an unknown id: a person's channels are what a
    step may read.

    An app is in every channel that it serves, so with its id any person's workflow could read them
    all.
    """
    is_foreign = await services.members.is_foreign(user_id)
    if not await services.members.people([user_id]):
        raise RefusedError(text.NO_PERSON)
    if is_foreign:
        raise RefusedError(FOREIGN)


def to_request(inputs: Raw, host: str) -> Permalink | Texts:
    """What a step should score; `host` is the workspace's.

    Raises RefusedError unless it is exactly one thing.
    """
    message, link = inputs.get("message"), str(inputs.get("link") or "")
    question, response = (
        to_plain(str(inputs.get(name) or "")).strip() for name in ("question", "response")
    )
    if [bool(message), bool(link), bool(question or response)].count(True) != 1:
        raise RefusedError(text.EITHER_OR)
    if message:
        if not message.get("channel_id") or not _TS.fullmatch(str(message.get("message_ts"))):
            raise RefusedError(text.NO_PLACE)
        return Permalink(host, message["channel_id"], message["message_ts"], None)
    if link:
        if found := parse_permalink(link):
            return found
        raise RefusedError(text.NO_LINK)
    if question and response:
        return Texts(question, response)
    raise RefusedError(text.EITHER_OR)


async def _linked(
    services: Services, invocation: Invocation, link: Permalink, user_id: str
) -> tuple[Case, bool]:
    if blocker := link.blocker({services.identity.host}):
        raise RefusedError(blocker)
    channel = (await services.memberships.now(user_id)).get(link.channel_id)
    if channel is None:
        raise RefusedError(text.NOT_IN_BOTH)
    # The builder of the workflow chose the person, and may not be in the channel.
    return await services.intake.of_link(invocation, link), not channel.is_private


logger = structlog.get_logger(__name__)


async def settle(services: Services, executions: Executions, case_id: int) -> None:
    """Tells the steps that wait for a case how it ended; raises RetryError if the case is not
    settled yet.
    """
    cases = services.store.cases
    case = await cases.get(case_id)
    if case and case.status not in AT_REST:
        raise RetryError("its case is not settled", pause=timedelta(seconds=2))
    await tell(services, executions, case_id, case, await cases.verdict(case_id) if case else None)


async def tell(
    services: Services,
    executions: Executions,
    case_id: int,
    case: LoggedCase | None,
    verdict: CaseVerdict | None,
) -> None:
    """Tells the steps that wait for a case its verdict, or that the case was forgotten if `case` is
    None.
    """
    for execution in await executions.waiting(case_id):
        if case is None:
            await fail(services, execution.id, text.FORGOTTEN)
        else:
            # The steps that follow may show it to anybody.
            await services.store.assignments.note_told(case.team_id, [case.id], EVERYBODY)
            told = text.outputs(case, verdict, services.identity.url, quotes=execution.quotes)
            refused = await _call(services, "functions.completeSuccess", execution.id, outputs=told)
            if (
                refused == "parameter_validation_failed"
            ):  # the installed manifest declares other outputs
                await fail(services, execution.id, text.OTHER_OUTPUTS)
            elif refused:
                logger.warning("step_not_ended", execution=execution.id, error=refused)
        await executions.note_completed(case_id, execution.id)


async def fail(services: Services, execution_id: str, error: str, token: str | None = None) -> None:
    """Ends a step with this error, which Slack shows to people; `token` is used instead of the
    app's own if given.
    """
    said = {"error": error} | ({"token": token} if token else {})
    if refused := await _call(services, "functions.completeError", execution_id, **said):
        logger.warning("step_not_ended", execution=execution_id, error=refused)


async def _call(services: Services, method: str, execution_id: str, **said: Any) -> str | None:
    """Slack's error code if it permanently refuses the call; None if the step has ended, now or
    before.
    """
    # slack-sdk's own methods are not used, because they put the arguments into the URL.
    call = services.client.api_call(method, json={"function_execution_id": execution_id, **said})
    refused = await refusal_of(call)
    return None if refused == "execution_not_in_running_state" else refused
