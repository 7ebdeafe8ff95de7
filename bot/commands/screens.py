"""All messages and windows that the app can make, with short, longest, empty and odd contents, for
Slack to check.

`make texts` writes the list from the code; a test fails if a message or window is missing in it.
"""

import asyncio
import gzip
import json
from importlib.resources import files
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackError
from bot.settings import SLACK_API_URL, Settings
from bot.slack.client import SLACK_ERRORS, error_of, slack_word

_PAUSE_S = 0.25  # the method's rate limit is not documented
_ACCEPTED = "messages and windows are accepted by Slack"
_REFUSED = {"invalid_blocks", "invalid_message", "invalid_view"}


def load() -> list[dict[str, Any]]:
    """Each with its `name`, its `content`, and a `message` or a `view`."""
    packed = files(__package__).joinpath("screens.json.gz").read_bytes()
    found: list[dict[str, Any]] = json.loads(gzip.decompress(packed))
    return found


async def check(client: AsyncWebClient, settings: Settings) -> str:
    """A line that says that Slack takes all of them; raises SlackError, which says which it does
    not take first, and why.

    Source: https://docs.slack.dev/reference/methods/blocks.validate
    """
    screens = load()
    for checked, screen in enumerate(screens):
        kind = "view" if "view" in screen else "message"
        try:
            # As a form: the SDK's own method puts them into the address, which is too short for
            # long ones.
            await client.api_call("blocks.validate", data={kind: json.dumps(screen[kind])})
        except SLACK_ERRORS as exc:
            if not isinstance(exc, SlackApiError) or error_of(exc) not in _REFUSED:
                ends = f"it checks no more of them ({slack_word(exc)})"
                return f"{checked} of {len(screens)} {_ACCEPTED}; {ends}"
            wrong = (exc.response.get("errors") or [{}])[0]
            said = f"{wrong.get('pointer')} {wrong.get('message')}, {wrong.get('constraint')}"
            which = f"{screen['name']} with {screen['content']} contents"
            raise SlackError(f"Slack does not accept {which}: {said}") from exc
        await asyncio.sleep(_PAUSE_S if settings.slack_api_url == SLACK_API_URL else 0)
    return f"{len(screens)} of {len(screens)} {_ACCEPTED}"
