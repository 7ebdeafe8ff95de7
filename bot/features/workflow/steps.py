"""What a run of the step asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.slack import ids
from bot.slack.commands import Texts
from bot.slack.invocation import Invocation
from bot.slack.messages import Permalink, parse_permalink
from bot.slack.mrkdwn import to_plain

Raw = dict[str, Any]


class Unusable(StrEnum):
    """Why a step's inputs ask for nothing that could be scored."""

    EITHER_OR = "either_or"
    NO_LINK = "no_link"
    NO_CHANNEL = "no_channel"


@dataclass(frozen=True)
class StepRequest:
    """A step that was run.

    Attributes:
        execution_id: Slack's name for the run, by which it is ended.
        user_id: For whom the workflow runs, as its step was set up: Slack's payload names nobody.
        homes: The ids of this workspace and of its organisation.
        asked: What is to be scored.
    """

    execution_id: str
    team_id: str
    user_id: str
    homes: frozenset[str]
    asked: Permalink | Texts | Unusable

    def invocation(self, user_name: str, home: str) -> Invocation:
        """The same as anybody's request, of a person of this name and workspace; it stands in no channel."""
        return Invocation(
            team_id=self.team_id,
            channel_id="",
            user_id=self.user_id,
            user_name=user_name,
            trigger_id="",
            response_url=None,
            is_foreign=home not in self.homes,
        )


def execution_of(body: Raw) -> str | None:
    """The run of a step that a payload tells of, if it does."""
    event = body.get("event") or {}
    return event.get("function_execution_id") if event.get("type") == "function_executed" else None


def to_step(body: Raw, host: str) -> StepRequest:
    """The request behind `function_executed`; `host` is the workspace's own address.

    Source: https://docs.slack.dev/reference/events/function_executed
    """
    event = body["event"]
    return StepRequest(
        execution_id=event["function_execution_id"],
        team_id=body["team_id"],
        user_id=event["inputs"][ids.INPUT_USER],
        homes=frozenset({body["team_id"], body.get("enterprise_id")} - {None}),
        asked=_asked(event["inputs"], host),
    )


def _asked(inputs: Mapping[str, Any], host: str) -> Permalink | Texts | Unusable:
    message, link = inputs.get(ids.INPUT_MESSAGE), str(inputs.get(ids.INPUT_LINK) or "")
    question, response = _text(inputs, ids.INPUT_QUESTION), _text(inputs, ids.INPUT_RESPONSE)
    texts = Texts(question, response) if question and response else None
    if [bool(message), bool(link), bool(question or response)].count(True) != 1:
        return Unusable.EITHER_OR
    if message:
        channel_id = message.get("channel_id")
        return Permalink(host, channel_id, message["message_ts"], None) if channel_id else Unusable.NO_CHANNEL
    if link:
        return parse_permalink(link) or Unusable.NO_LINK
    return texts or Unusable.EITHER_OR


def _text(inputs: Mapping[str, Any], name: str) -> str:
    return to_plain(str(inputs.get(name) or "")).strip()
