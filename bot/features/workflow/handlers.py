"""The step "Score a reply" of workflows: what it asks for becomes a case like anybody's, and its end is the case's."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from bot.domain.blocker import RefusedError, blocker_text
from bot.domain.case import Case, CaseSource, Execution
from bot.feature import Services
from bot.features.workflow.completion import Completion
from bot.features.workflow.text import EITHER_OR, NO_CHANNEL, NO_LINK, NO_PERSON, NOT_IN_BOTH
from bot.pipeline.requests import link_case, step_texts_case
from bot.pipeline.text import refusal_text, unsure_of_link
from bot.slack import ids
from bot.slack.client import error_of
from bot.slack.commands import Texts
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.slack.messages import Permalink, parse_permalink
from bot.slack.mrkdwn import to_plain

Raw = Mapping[str, Any]

_NAME_WITHIN_S = 0.5
_UNKNOWN = "user_not_found"


class NothingToScoreError(Exception):
    """The step fails; the message is the sentence that it fails with."""


def register(app: AsyncApp, services: Services, completion: Completion) -> None:
    @app.function(ids.FUNCTION_SCORE_REPLY, auto_acknowledge=False)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        # Slack tells of the step again where it is not acknowledged, which it is once its case is durable.
        await _take(services, completion, body)
        await ack()


def execution_of(body: Raw) -> str | None:
    event = body.get("event") or {}
    return event.get("function_execution_id") if event.get("type") == "function_executed" else None


async def _take(services: Services, completion: Completion, body: Raw) -> None:
    """Takes in the case that a step asks for: it is durable on return, or the step has failed with a sentence.

    Source: https://docs.slack.dev/reference/events/function_executed
    """
    execution_id, inputs = body["event"]["function_execution_id"], body["event"]["inputs"]
    executions = services.store.executions
    if await executions.is_known(body["team_id"], execution_id):
        return
    try:
        invocation = await _to_invocation(services, body, inputs[ids.INPUT_USER])
        match to_request(inputs, services.identity.host):
            case Texts(question, response):
                quotes, choice = True, await services.choices.of(invocation)
                asked = step_texts_case(invocation, execution_id, question, response, choice)
            case Permalink() as link:
                asked, quotes = await _linked(services, invocation, link)
        execution = Execution(execution_id, quotes)
        case, is_new = await services.intake.take(asked, replace(invocation, execution=execution))
    except RefusedError as exc:
        await completion.fail(execution_id, refusal_text(exc.refusal))
    except MembershipError as exc:
        await completion.fail(execution_id, unsure_of_link(exc))
    except NothingToScoreError as exc:
        await completion.fail(execution_id, str(exc))
    else:
        if not is_new:
            await executions.attach(execution, case)


async def _to_invocation(services: Services, body: Raw, user_id: str) -> Invocation:
    """The request as of the person for whom the workflow runs: Slack's payload names nobody. It is in no channel."""
    try:
        home = await services.homes.of(user_id)
    except SlackApiError as exc:
        if error_of(exc) == _UNKNOWN:
            raise NothingToScoreError(NO_PERSON) from exc
        raise
    # An app is in every channel that it serves: by its name, anybody's workflow would reach them all.
    if await services.members.is_known_bot(user_id):
        raise NothingToScoreError(NO_PERSON)
    member = (await services.members.of_all([user_id], _NAME_WITHIN_S)).get(user_id)
    return Invocation(
        team_id=body["team_id"],
        channel_id="",
        user_id=user_id,
        user_name=member.name if member else user_id,
        trigger_id="",
        response_url=None,
        is_foreign=home not in {body["team_id"], body.get("enterprise_id")},
    )


def to_request(inputs: Raw, host: str) -> Permalink | Texts:
    """What a step is to score; `host` is the workspace's own address.

    Raises:
        NothingToScoreError: That is not a message, nor a link, nor two texts.
    """
    message, link = inputs.get(ids.INPUT_MESSAGE), str(inputs.get(ids.INPUT_LINK) or "")
    question, response = (
        to_plain(str(inputs.get(name) or "")).strip() for name in (ids.INPUT_QUESTION, ids.INPUT_RESPONSE)
    )
    if [bool(message), bool(link), bool(question or response)].count(True) != 1:
        raise NothingToScoreError(EITHER_OR)
    if message:
        if not message.get("channel_id"):
            raise NothingToScoreError(NO_CHANNEL)
        return Permalink(host, message["channel_id"], message["message_ts"], None)
    if link:
        if found := parse_permalink(link):
            return found
        raise NothingToScoreError(NO_LINK)
    if question and response:
        return Texts(question, response)
    raise NothingToScoreError(EITHER_OR)


async def _linked(services: Services, invocation: Invocation, link: Permalink) -> tuple[Case, bool]:
    if blocker := link.blocker({services.identity.host}):
        raise NothingToScoreError(blocker_text(blocker))
    channel = (await services.memberships.now(invocation.user_id)).get(link.channel_id)
    if channel is None:
        raise NothingToScoreError(NOT_IN_BOTH)
    choice = await services.choices.of(invocation, link.channel_id)
    # Whoever built the workflow chose the person, and need not be in the channel.
    return link_case(invocation, link, choice, None, CaseSource.WORKFLOW), not channel.is_private
