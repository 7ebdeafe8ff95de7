"""The step "Score a reply" of workflows: what it asks for becomes a case like anybody's, and its end is the case's."""

from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from bot.domain.blocker import RefusedError, blocker_text
from bot.domain.case import Case, CaseSource, Execution
from bot.features.workflow.completion import Completion
from bot.features.workflow.steps import StepRequest, Unusable, to_step
from bot.features.workflow.text import NO_PERSON, NOT_IN_BOTH, unusable
from bot.pipeline.intake import Choices, Intake
from bot.pipeline.requests import link_case, step_texts_case
from bot.pipeline.text import refusal_text, unsure_of_link
from bot.slack import ids
from bot.slack.client import error_of
from bot.slack.commands import Texts
from bot.slack.invocation import Invocation
from bot.slack.members import Homes, MembershipError, Memberships
from bot.slack.messages import Permalink

_NAME_WITHIN_S = 0.5
_UNKNOWN = "user_not_found"


class _NothingToScoreError(Exception):
    """The step fails; the message is the sentence that it fails with."""


@dataclass(frozen=True)
class ScoreStep:
    """Takes in what workflows ask for.

    Attributes:
        intake: Where cases are taken in.
        choices: What they are judged by.
        memberships: Who is in which channel.
        homes: Where people are from.
        completion: What ends steps.
        host: The workspace's address.
    """

    intake: Intake
    choices: Choices
    memberships: Memberships
    homes: Homes
    completion: Completion
    host: str

    async def take(self, body: dict[str, Any]) -> None:
        """Takes in the case that a step asks for: it is durable on return, or the step has failed with a sentence.

        A step that Slack tells of once more is left as it is.
        """
        step = to_step(body, self.host)
        executions = self.intake.store.executions
        if await executions.is_known(step.team_id, step.execution_id):
            return
        try:
            invocation = await self._invocation(step)
            asked, quotes = await self._case(step, invocation)
            execution = Execution(step.execution_id, quotes)
            case, is_new = await self.intake.take(asked, replace(invocation, execution=execution))
        except RefusedError as exc:
            await self.completion.fail(step.execution_id, refusal_text(exc.refusal))
        except MembershipError as exc:
            await self.completion.fail(step.execution_id, unsure_of_link(exc))
        except _NothingToScoreError as exc:
            await self.completion.fail(step.execution_id, str(exc))
        else:
            if not is_new:
                await executions.attach(execution, case)

    async def _invocation(self, step: StepRequest) -> Invocation:
        try:
            home = await self.homes.of(step.user_id)
        except SlackApiError as exc:
            if error_of(exc) == _UNKNOWN:
                raise _NothingToScoreError(NO_PERSON) from exc
            raise
        # An app is in every channel that it serves: by its name, anybody's workflow would reach them all.
        if await self.intake.members.is_known_bot(step.user_id):
            raise _NothingToScoreError(NO_PERSON)
        found = await self.intake.members.of_all([step.user_id], _NAME_WITHIN_S)
        member = found.get(step.user_id)
        return step.invocation(member.name if member else step.user_id, home)

    async def _case(self, step: StepRequest, invocation: Invocation) -> tuple[Case, bool]:
        """The case that is asked for, and whether the workflow may be told its justification."""
        match step.asked:
            case Unusable() as why:
                raise _NothingToScoreError(unusable(why))
            case Texts(question, response):
                choice = await self.choices.of(invocation)
                return step_texts_case(invocation, step.execution_id, question, response, choice), True
            case Permalink() as link:
                return await self._linked(invocation, link)

    async def _linked(self, invocation: Invocation, link: Permalink) -> tuple[Case, bool]:
        if found := link.blocker(frozenset({self.host})):
            raise _NothingToScoreError(blocker_text(found))
        channel = (await self.memberships.now(invocation.user_id)).get(link.channel_id)
        if channel is None:
            raise _NothingToScoreError(NOT_IN_BOTH)
        choice = await self.choices.of(invocation, link.channel_id)
        # Whoever built the workflow chose the person, and need not be in the channel.
        return link_case(invocation, link, choice, None, CaseSource.WORKFLOW), not channel.is_private


def register(app: AsyncApp, step: ScoreStep) -> None:
    """Connects the step. Slack tells of it again where it is not acknowledged, which it is once its case is durable."""

    @app.function(ids.FUNCTION_SCORE_REPLY, auto_acknowledge=False)
    async def score_reply(ack: AsyncAck, body: dict[str, Any]) -> None:
        await step.take(body)
        await ack()
