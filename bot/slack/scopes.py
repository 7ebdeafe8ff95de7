"""What the token may do: a method that Slack would refuse for want of a scope is not called."""

from collections.abc import Mapping
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

MISSING = "missing_scope"
"""Slack's word for it, and ours."""

REACTIONS = "reactions:write"
READS_REACTIONS = "reactions:read"

_HISTORY = frozenset({"channels:history", "groups:history", "im:history", "mpim:history"})
_CHANNELS = frozenset({"channels:read", "groups:read", "im:read", "mpim:read"})
# One of these is needed; which, depends on the kind of channel, and is Slack's to say.
_NEEDED: Mapping[str, frozenset[str]] = {
    "bots.info": frozenset({"users:read"}),
    "conversations.history": _HISTORY,
    "conversations.info": _CHANNELS,
    "conversations.members": _CHANNELS,
    "conversations.replies": _HISTORY,
    "reactions.add": frozenset({REACTIONS}),
    "users.conversations": _CHANNELS,
    "users.info": frozenset({"users:read"}),
}
_WITH_ANOTHER_TOKEN = {"apps.connections.open", "functions.completeError"}  # the latter perhaps


class ScopedClient(AsyncWebClient):
    """A Web API client that knows from Slack what its token may do, and refuses the rest in Slack's own words."""

    _granted: frozenset[str] = frozenset()

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """As slack-sdk has it.

        Raises:
            SlackApiError: Also `missing_scope`, without a call, where none of the method's scopes was granted.
        """
        needed = _NEEDED.get(api_method)
        if needed and self._granted and needed.isdisjoint(self._granted):
            raise self._refusal(api_method, needed)
        answer = await super().api_call(api_method, **arguments)
        if api_method not in _WITH_ANOTHER_TOKEN:
            self._granted = granted_scopes(answer)
        return answer

    def _refusal(self, api_method: str, needed: frozenset[str]) -> SlackApiError:
        body = {"ok": False, "error": MISSING, "needed": ",".join(sorted(needed))}
        answer = AsyncSlackResponse(
            client=self, http_verb="POST", api_url=api_method, req_args={}, data=body, headers={}, status_code=200
        )
        said = f"{api_method} is not called: none of its scopes was granted"
        return SlackApiError(said, answer)  # type: ignore[no-untyped-call]


def granted_scopes(answer: AsyncSlackResponse) -> frozenset[str]:
    """What Slack says beside an answer that the token may do; empty where it says nothing."""
    header = next((value for name, value in answer.headers.items() if name.lower() == "x-oauth-scopes"), "")
    return frozenset(scope.strip() for scope in header.split(",") if scope.strip())
